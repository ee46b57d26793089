// Texts that are shown in less space than they have.

/** The text, or its first words. */
export function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length).replace(/\s+\S*$/, "")} …` : text;
}
