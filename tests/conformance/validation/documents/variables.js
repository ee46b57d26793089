// Variables of every type with every default value in every position of a value; and every value as a literal.

const TYPES = ["ID", "String", "Int", "Float", "Boolean", "Decimal", "DateTime", "OrderSortKey", "Order", "Nope"];

/** What becomes of a type in a declaration. */
const WRAPPERS = ["T", "T", "T", "T!", "T!", "[T]", "[T!]!", "[[T]]"];

const VALUES = [
  ...["null", "1", "-0", "1.5", "1e0", '"x"', '"""x"""', "true", "ORDER_DATE", "NOPE", "[]", "[1]", '["x", null]'],
  ...["[[1]]", "[[null]]", "[true]", "{}", "{a: 1}", "{a: 1, a: 2}", "2147483647", "2147483648", "-2147483649"],
  ...["99999999999999999999", "[ORDER_DATE]", "{a: [{b: null}]}", '"2020-01-01"', "$w", "[$w]"],
];

/** What a value may stand in, in place of VALUE, and the type that is expected there. DIRECTIVE stands for directives. */
const PLACES = [
  ["{ order(orderId: VALUE) DIRECTIVE { orderId } }", "ID"],
  ["{ product(productId: VALUE) { productId } }", "ID"],
  ["{ orderByIdentification(identificationTypeId: VALUE, idValue: VALUE) { orderId } }", "ID"],
  ["{ orders(first: VALUE) { pageInfo { endCursor } } }", "Int"],
  ["{ orders(first: 1, after: VALUE) { pageInfo { endCursor } } }", "String"],
  ["{ orders(first: 1, query: VALUE) { pageInfo { endCursor } } }", "String"],
  ["{ orders(first: 1, sortKey: VALUE) { pageInfo { endCursor } } }", "OrderSortKey"],
  ["{ orders(first: 1, reverse: VALUE) { pageInfo { endCursor } } }", "Boolean"],
  ["{ orders(first: [VALUE]) { pageInfo { endCursor } } }", "Int"],
  ["{ order(orderId: [VALUE]) { orderId } }", "ID"],
  ["{ order(orderId: {a: VALUE}) { orderId } }", "ID"],
  ["{ order(nope: VALUE) { orderId } }", "ID"],
  ["{ nope(nope: VALUE) { orderId } }", "ID"],
  ["{ __typename @include(if: VALUE) }", "Boolean"],
  ["{ __typename @skip(if: [VALUE]) }", "Boolean"],
  ["{ __typename @nope(if: VALUE) }", "Boolean"],
  ["{ ...F @skip(if: VALUE) } fragment F on Query { __typename }", "Boolean"],
  ["{ ...F } fragment F on Query { order(orderId: VALUE) { orderId } }", "ID"],
  ["{ ... @include(if: VALUE) { __typename } }", "Boolean"],
  ["{ __type(name: VALUE) { name } }", "String"],
  ['{ __type(name: "Order") { fields(includeDeprecated: VALUE) { name } } }', "Boolean"],
  ["{ __schema { directives(includeDeprecated: VALUE) { name } } }", "Boolean"],
];

/** Values that a type takes, and that nearly are such. */
const FITTING = {
  ID: ["1", '"x"', "null", "1.5", '"""x"""'],
  Int: ["1", "-0", "2147483647", "2147483648", "null"],
  String: ['"x"', '"""x"""', "null", "1"],
  OrderSortKey: ["ORDER_DATE", "GRAND_TOTAL", "PRODUCT_ID", '"ORDER_DATE"', "null"],
  Boolean: ["true", "false", "null", '"true"', "TRUE"],
};

/** A document with one value in a place, or with a variable there. */
export function withVariable(random) {
  const [place, expected] = random.pick(PLACES);
  const anyValue = () => random.pick(random.chance(0.6) ? FITTING[expected] : VALUES);
  const value = random.chance(0.2) ? anyValue() : random.pick(["$v", "$v", "$v", "$v", "$v", "[$v]", "{a: $v}"]);
  const directive = random.chance(0.2) ? "@include(if: $w)" : "";
  const body = place.replace("DIRECTIVE", directive).replaceAll("VALUE", value);
  const declared = [];
  if (body.includes("$v")) {
    const type = random.pick(WRAPPERS).replace("T", random.chance(0.6) ? expected : random.pick(TYPES));
    declared.push(`$v: ${type}${random.chance(0.4) ? ` = ${anyValue()}` : ""}`);
  }
  if (body.includes("$w")) declared.push("$w: Boolean!");
  if (random.chance(0.03)) declared.push("$unused: Int");
  if (random.chance(0.03)) declared.push("$v: Int");
  return declared.length ? `query (${declared.join(random.pick([", ", " ", ",\n"]))}) ${body}` : body;
}
