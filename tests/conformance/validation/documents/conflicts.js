// Selections with the same response key: of one field or several, with equal or different arguments, in fragments or not.

/** A document whose few keys are asked for again and again. */
export function withConflicts(random) {
  const writer = new Writer(random);
  const operation = writer.selections("Query", 4);
  const fragments = [];
  // A fragment may select more of them.
  for (let next = writer.waiting.shift(); next; next = writer.waiting.shift()) {
    fragments.push(`fragment ${next.name} on ${next.type} ${writer.selections(next.type, next.depth)}`);
  }
  const selections = [operation, ...fragments].join("\n");
  const variables = ["$a: ID", "$b: ID"].filter((variable) => selections.includes(variable.slice(0, 2)));
  return variables.length ? `query (${variables.join(", ")}) ${selections}` : selections;
}

/** For each type its fields: the arguments that they are given, and the type of what they select. */
const SHAPES = {
  Query: {
    order: {
      arguments: [
        ...['orderId: "1"', 'orderId: "1"', 'orderId: "\\u0031"', 'orderId: """1"""', "orderId: 1", "orderId: 0"],
        ...["orderId: -0", "orderId: $a", "orderId: $b", 'externalId: null, orderId: "1"', 'externalId: "1"'],
      ],
      type: "Order",
    },
    orders: {
      arguments: ["first: 1, reverse: true", "reverse: true first: 1", "first: 1", "first: 2, reverse: true"],
      type: "OrderConnection",
    },
    __typename: {},
  },
  OrderConnection: { edges: { type: "OrderEdge" }, __typename: {} },
  OrderEdge: { node: { type: "Order" }, cursor: {} },
  Order: {
    orderId: {},
    statusId: {},
    orderDate: {},
    orderItems: {
      arguments: ["first: 1", "first: 1, after: null", "first: 2", "last: 1"],
      type: "OrderItemConnection",
    },
    billToCustomer: { type: "BillToCustomer" },
  },
  OrderItemConnection: { edges: { type: "OrderItemEdge" } },
  OrderItemEdge: { node: { type: "OrderItem" }, cursor: {} },
  OrderItem: { orderId: {}, productId: {}, order: { type: "Order" } },
  BillToCustomer: { firstName: {}, lastName: {} },
};

class Writer {
  constructor(random) {
    this.random = random;
    /** Fragments that are spread and not written yet. */
    this.waiting = [];
    this.fragments = 0;
  }

  selections(type, depth) {
    const { random } = this;
    const items = random.times(1 + random.below(3), () => this.selection(type, depth));
    return `{ ${items.join(" ")} }`;
  }

  selection(type, depth) {
    const kind = this.random.fraction();
    if (depth > 0 && kind < 0.1) return `... ${this.selections(type, depth - 1)}`;
    if (depth > 0 && kind < 0.15) return `... on ${type} ${this.selections(type, depth - 1)}`;
    if (depth > 0 && kind < 0.3) return `...${this.fragment(type, depth - 1)}`;
    return this.field(type, depth);
  }

  field(type, depth) {
    const { random } = this;
    const fields = Object.entries(SHAPES[type]).filter(([, field]) => depth > 0 || !field.type);
    if (!fields.length) return "__typename";
    // Mostly the same fields, so that response keys are equal.
    const [name, field] = random.chance(0.6) ? fields[0] : random.pick(fields);
    const alias = random.chance(0.1) ? `${random.pick(["a", "b", "orderId", "cursor"])}: ` : "";
    const given = field.arguments ? `(${random.chance(0.8) ? field.arguments[0] : random.pick(field.arguments)})` : "";
    const inner = field.type ? ` ${this.selections(field.type, depth - 1)}` : "";
    return alias + name + given + inner;
  }

  /** The name of a fragment. Those that are written already are not spread again, so there is no cycle. */
  fragment(type, depth) {
    const known = this.waiting.filter((fragment) => fragment.type === type);
    if (known.length && this.random.chance(0.6)) return this.random.pick(known).name;
    const name = `F${this.fragments++}`;
    this.waiting.push({ name, type, depth });
    return name;
  }
}
