// Valid documents with changes: a token or a character inserted, deleted, moved or replaced.

import { isObjectType, Lexer, Source, TokenKind } from "graphql";

import { validDocument } from "./valid.js";

/** A valid document after a change to its tokens, or after a few. */
export function withBrokenTokens(random, schema) {
  const tokens = lexed(smallDocument(random, schema));
  for (let changes = random.pick([1, 1, 1, 2, 3]); changes > 0 && tokens.length > 0; changes--) {
    random.pick(CHANGES)(random, tokens, vocabulary(schema));
  }
  return tokens.map((token) => token.text).join(random.chance(0.5) ? " " : "\n");
}

/** A valid document after a change to its characters, or after two. */
export function withBrokenCharacters(random, schema) {
  const characters = [...smallDocument(random, schema)];
  for (let changes = random.pick([1, 1, 2]); changes > 0; changes--) {
    const at = random.below(characters.length);
    const kind = random.fraction();
    if (kind < 0.3) characters.splice(at, 1);
    else if (kind < 0.8) characters.splice(at, 0, random.pick(CHARACTERS));
    else characters[at] = random.pick(CHARACTERS);
  }
  return characters.join("");
}

/** A mistake is found in the middle of little as well as in the middle of much. */
const smallDocument = (random, schema) => validDocument(random, schema, 1 + random.below(4));

const drop = (random, tokens) => tokens.splice(random.below(tokens.length), 1);
const double = (random, tokens) => {
  const at = random.below(tokens.length);
  tokens.splice(at, 0, tokens[at]);
};
const insert = (random, tokens) => tokens.splice(random.below(tokens.length), 0, { text: random.pick(PIECES) });
const replace = (random, tokens) => {
  tokens[random.below(tokens.length)] = { text: random.pick(PIECES) };
};
const swap = (random, tokens) => {
  const [one, other] = [random.below(tokens.length), random.below(tokens.length)];
  [tokens[one], tokens[other]] = [tokens[other], tokens[one]];
};
/** Fields, arguments, types, variables, fragments and operations: all have names. */
const rename = (random, tokens, names) => change(random, tokens, [TokenKind.NAME], names);
const revalue = (random, tokens) => change(random, tokens, VALUES, VALUE_PIECES);

// Changes that leave a document that parses are more interesting.
const CHANGES = [drop, double, insert, replace, swap, revalue, rename, rename, rename, rename];

const VALUES = [TokenKind.INT, TokenKind.FLOAT, TokenKind.STRING, TokenKind.BLOCK_STRING];

function change(random, tokens, kinds, texts) {
  const places = [...tokens.keys()].filter((place) => kinds.includes(tokens[place].kind));
  if (places.length) tokens[random.pick(places)] = { kind: kinds[0], text: random.pick(texts) };
}

/** The tokens of a document, each with its text. */
function lexed(text) {
  const lexer = new Lexer(new Source(text));
  const tokens = [];
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens.push({ kind: token.kind, text: text.slice(token.start, token.end) });
  }
  return tokens;
}

const vocabularies = new WeakMap();

/** Names that documents use. */
function vocabulary(schema) {
  if (!vocabularies.has(schema)) {
    const types = Object.values(schema.getTypeMap()).filter(isObjectType);
    const fields = types.flatMap((type) => Object.keys(type.getFields()));
    vocabularies.set(schema, [...new Set([...Object.keys(schema.getTypeMap()), ...fields, ...OTHER_NAMES])]);
  }
  return vocabularies.get(schema);
}

const OTHER_NAMES = [
  ..."first last after before query sortKey reverse name if on include skip deprecated".split(" "),
  ..."F0 F1 F2 Q0 Q1 v0ID v1Int r0Boolean dInt mutation subscription fragment".split(" "),
];

const VALUE_PIECES = [
  ...["1", '"x"', "null", "true", "ENUM", "[1]", "{a: 1}", "1.5", "$x", '["a", null]', "2147483648", "ORDER_ID"],
];

const PIECES = [
  ..."{ } ( ) [ ] : $ @ ! = ... | & , on query fragment mutation null true 1 1.5 1e5 -0 01 1a 1. [1] [] {}".split(" "),
  ..."ID [ID!] Order orderId first x ENUM ORDER_DATE __typename $x 2147483648 9999999999 ...F0 ...F1".split(" "),
  ...['"s"', '"""b"""', '"\\u{41}"', '"\\uD800"', '"\\x"', "#c\n", "\ufeff", "{a: 1, a: 2}", "first: 1", "a: 1"],
  ...["@include(if: true)", "@skip(if: $r0Boolean)", "@deprecated", "@unknown", "$y: Int = 1", "($z: Int)"],
  ...["$q: ID @x", '"d" $w: String', "... on Order { orderId }", "... on OrderItem { orderId }", "fragment"],
  ...["fragment Z on Order { orderId }", "query Z { __typename }", "mutation M { a }", "type T { a: Int }"],
];

const CHARACTERS = [
  ...['"', "\\", "\n", "\r", "\t", "\u0000", "\u0007", "é", "😀", "\ufeff", "#", ".", "-", "0", "e", "{", "}", "u"],
  ...["\\u{", '"""', "\u00a0", "\u2028", ",", "1", "_", "$", "@", "'", "“"],
];
