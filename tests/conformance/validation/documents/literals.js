// Literals of every kind, valid and invalid: strings, block strings, numbers, and ignored characters between tokens.

/** A document with a literal or with ignored characters that are as good as any. */
export function withLiteral(random) {
  const [pieces, most, write] = random.pick(FORMS);
  return write(random.times(random.below(most), () => random.pick(pieces)).join(""));
}

const STRING = [
  ..."a é 😀 \\n \\b \\f \\r \\t \\/ \\\\ \\\" \\u0041 \\u{41} \\u{1F600} \\uD83D\\uDE00 \\uD83D \\uDE00".split(" "),
  ..."\\u{D800} \\u{110000} \\u{10FFFF} \\u \\x \\u{ } \" 0 # , \\u00e9 \\u{} \\u{00041} \\U0041 \\u{ffffffffff}".split(" "),
  ...["\n", "\r", "\t", " ", "\u0000", "\u0007", "\u007f", "\ufeff", "\u2028", "\\\n"],
];

const BLOCK_STRING = [
  ...["a", "b", "  ", " ", "\t", "\n", "\r", "\r\n", "\n  ", "\n    ", '\\"""', "\\", '"', '"""', '""', "\\n", "é"],
  ...["\u0000", "\u0007", "\u00a0", "\u2028", "\ufeff", "\u000b", "\u0085", "\u3000", "#", "\\u{D800}"],
];

const NUMBER = "0 1 9 - . e E + 00 12 a _ 1.5 1e5 -0 é \" $ !".split(" ");

const IGNORED = [
  ...[",", " ", "\t", "\n", "\r", "\r\n", "\ufeff", "# a comment\n", "#\r", "# é😀 \" ' { \u2028\n", ",,", "#"],
  ...["\u00a0", "\u000b", "\u000c", "\u0000", "\u200b", "\u3000", "\u0085", "//", "/* */", ";"],
];

/** For each form its pieces, how many there are fewer than, and where they stand. */
const FORMS = [
  [STRING, 8, (text) => `{ order(orderId: "${text}") { orderId } }`],
  [BLOCK_STRING, 8, (text) => `{ order(orderId: """${text}""") { orderId } }`],
  [NUMBER, 5, (text) => `{ order(orderId: ${text}) { orderId } }`],
  [NUMBER, 4, (text) => `{ orders(first: 1${text}) { pageInfo { endCursor } } }`],
  [NUMBER, 4, (text) => `query ($a: Int = ${text}1) { orders(first: $a) { pageInfo { endCursor } } }`],
  [IGNORED, 4, (text) => `${text}{${text}order${text}(${text}orderId${text}:${text}1)${text}{${text}orderId }}${text}`],
  [IGNORED, 3, (text) => `{ order(orderId: 1${text}externalId: "x") { orderId${text}statusId } }`],
  [IGNORED, 3, (text) => `query${text}Q${text}{ __typename ...${text}F } fragment${text}F on${text}Query { __typename }`],
];
