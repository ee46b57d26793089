// The operations and fragments of a document: names, spreads, and declared and used variables. Mostly correct, with a few
// mistakes.

/** A document of several definitions that lean on one another. */
export function withDefinitions(random) {
  const slips = (probability) => random.chance(probability * SLIPS);
  const count = random.below(6);
  const written = random.times(count, (place) => fragment(random, slips, place, count));
  const operations = random.times(random.pick([1, 1, 2, 3]), () => selections(random, slips, "Query", 0, count));
  const spread = reached(operations.join(" "), written);
  const fragments = written.filter((each) => spread.includes(each) || slips(0.1));
  const definitions = [
    ...operations.map((body, place) => operation(random, slips, body, place, operations.length, written)),
    ...fragments.map(({ name, condition, body }) => `fragment ${name} on ${condition} ${body}`),
  ];
  if (slips(0.05)) definitions.push(random.pick(ODD));
  if (random.chance(0.5)) definitions.reverse();
  return definitions.join(random.pick(["\n", " ", ""]));
}

/** How often it comes to slips; a document has a dozen chances. */
const SLIPS = 0.6;

const VARIABLES = {
  $a: ["$a: ID", '$a: ID = "1"', "$a: ID!"],
  $b: ["$b: Int", "$b: Int! = 1", "$b: Int!"],
  $c: ["$c: Boolean!", "$c: Boolean = true", "$c: Boolean! = false"],
};

/** For each type what is selected of it. ORDER is a spread on an order. */
const FIELDS = {
  Query: ["__typename", "x: order(orderId: $a) { orderId ORDER }", "y: orders(first: $b) { pageInfo { endCursor } }"],
  Order: ["orderId", "statusId @include(if: $c)", "z: orderItems(first: $b) { pageInfo { endCursor } }"],
};

const ODD = [
  ...["type T { a: Int }", "schema { query: Query }", "extend type Query { a: Int }", "scalar S", '"only a description"'],
  ...["subscription { __typename }", "mutation M { a }", "fragment on on Query { __typename }", "{", "}", "query"],
  ...["subscription S { a b }", "fragment F on { a }", "query Q($a) { a }", "directive @d on FIELD", "input I { a: Int }"],
];

function operation(random, slips, body, place, count, fragments) {
  const text = [body, ...reached(body, fragments).map((fragment) => fragment.body)].join(" ");
  const used = Object.keys(VARIABLES).filter((variable) => text.includes(variable) !== slips(0.05));
  const variables = used.map((variable) => random.pick(VARIABLES[variable]));
  if (variables.length && slips(0.03)) variables.push(variables[0]);
  if (count === 1 && !variables.length && random.chance(0.5)) return body;
  const name = (count === 1 && random.chance(0.3)) || slips(0.05) ? "" : `Q${slips(0.1) ? 0 : place}`;
  const kind = slips(0.05) ? random.pick(["mutation", "subscription"]) : "query";
  const description = random.chance(0.1) ? random.pick(['"A description." ', '"""\nA block.\n"""\n']) : "";
  return `${description}${kind} ${name}${variables.length ? `(${variables.join(" ")})` : ""} ${body}`;
}

/** A fragment: those of even numbers are on `Query`, the others on `Order`. */
function fragment(random, slips, place, count) {
  const type = place % 2 ? "Order" : "Query";
  const name = `F${slips(0.05) ? random.below(count) : place}`;
  const condition = slips(0.05) ? random.pick(["OrderItem", "ID", "OrderSortKey", "Nope", "order"]) : type;
  return { name, condition, body: selections(random, slips, type, place + 1, count) };
}

/** Selections of a type that spread fragments from a number on. */
function selections(random, slips, type, from, count) {
  const items = random.times(1 + random.below(3), () => {
    if (random.chance(0.4)) return spread(random, slips, type, from, count) || "__typename";
    return random.pick(FIELDS[type]).replace("ORDER", () => spread(random, slips, "Order", from, count));
  });
  return `{ ${items.join(" ")} }`;
}

/** A spread that can be, or one of the other type, of a fragment that is not there, or around in a circle. */
function spread(random, slips, type, from, count) {
  if (slips(0.08)) return `...F${random.below(count + 1)}`;
  const possible = Array.from({ length: count }, (_, place) => place).filter(
    (place) => place >= from && (place % 2 === 1) === (type === "Order"),
  );
  return possible.length ? `...F${random.pick(possible)}` : "";
}

/** The fragments that a text spreads, and those that these spread. */
function reached(text, fragments) {
  const names = new Set();
  const follow = (part) => {
    for (const [, name] of part.matchAll(/\.\.\.(F\d)/g)) {
      if (names.has(name)) continue;
      names.add(name);
      fragments.filter((fragment) => fragment.name === name).forEach((fragment) => follow(fragment.body));
    }
  };
  follow(text);
  return fragments.filter((fragment) => names.has(fragment.name));
}
