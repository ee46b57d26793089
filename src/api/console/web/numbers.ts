// Numbers as people read them.

const NUMBERS = new Intl.NumberFormat("en");

/** A number with separators of thousands. */
export function number(value: number): string {
  return NUMBERS.format(value);
}

/** How many there are of something: "1 page", "1,024 pages". The plural is that of the last word. */
export function count(value: number, noun: string): string {
  const plural = noun.endsWith("ch") ? `${noun}es` : `${noun}s`;
  return `${number(value)} ${value === 1 ? noun : plural}`;
}
