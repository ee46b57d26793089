// Directives in allowed and forbidden locations, with mistakes in their arguments.

/** A document with up to three directives at some of its places. */
export function withDirectives(random) {
  const directives = () => {
    const count = random.pick([0, 0, 0, 0, 1, 1, 2, 3]);
    return random.times(count, () => (random.chance(0.6) ? random.pick(RIGHT) : random.pick(ALL))).join(" ");
  };
  return random.pick(DOCUMENTS).replaceAll("AT", directives);
}

const RIGHT = ["@include(if: true)", "@skip(if: false)", "@skip(if: $v)", "@include(if: $v)"];

const ALL = [
  ...RIGHT,
  ...["@include", "@include(if: null)", "@include(if: 1)", '@skip(if: "true")', "@skip(unless: true)", "@skip(if: $x)"],
  ...["@skip(if: true, if: true)", "@include(if: true, unless: 1)", "@include(if: {})", "@Include(if: true)", "@nope"],
  ...["@deprecated", '@deprecated(reason: "old")', '@specifiedBy(url: "a")', "@oneOf", "@defer", "@nope(a: $v, b: [$v])"],
  ...["@include()", "@", "@ include(if: true)", "@include (if: true)", "@include\n(if\n:true)", "@include(if: [true])"],
];

const DOCUMENTS = [
  "query Q($v: Boolean!) AT { __typename @skip(if: $v) AT }",
  "query Q($v: Boolean! = true AT) { order(orderId: 1) AT { orderId AT @include(if: $v) } }",
  "query Q($v: Boolean! AT) { ... AT { __typename AT } ... on Query AT { a: __typename @skip(if: $v) } }",
  "query Q($v: Boolean!) { ...F AT ...F AT a: __typename @skip(if: $v) } fragment F on Query AT { __typename AT }",
  "query Q AT { orders(first: 1) AT { edges AT { node AT { orderId AT } } pageInfo AT { endCursor AT } } }",
  "query Q($v: Boolean) { a: __typename AT b: order(orderId: 1) AT { orderId AT } }",
  "query A AT { __typename } query B($v: Boolean!) AT { ...F } fragment F on Query { __typename AT a: __typename AT }",
  "AT { __typename }",
  "{ AT __typename }",
  "query AT Q { __typename }",
  "{ __schema AT { types AT { name AT } } }",
];
