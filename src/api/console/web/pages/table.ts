// Nodes as rows of a table, and as files.

export type Node = Record<string, unknown>;

/** The values of a node by column: objects are taken apart, `customer.name`; lists stay whole. */
export function flat(node: Node, prefix = ""): Map<string, unknown> {
  const cells = new Map<string, unknown>();
  for (const [name, value] of Object.entries(node)) {
    const isObject = value !== null && typeof value === "object" && !Array.isArray(value) && !("edges" in value);
    if (isObject) for (const [column, cell] of flat(value as Node, `${prefix}${name}.`)) cells.set(column, cell);
    else cells.set(prefix + name, value);
  }
  return cells;
}

/** The columns of all nodes, in the order in which they appear. */
export function columns(nodes: Node[]): string[] {
  const names = new Set(nodes.flatMap((node) => [...flat(node).keys()]));
  // An object that is null somewhere has its own columns elsewhere.
  return [...names].filter((name) => ![...names].some((other) => other.startsWith(`${name}.`)));
}

/** The nodes of a connection within a node, without what is around them. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  if ("edges" in value && Array.isArray(value.edges)) return value.edges.map(({ node }: { node: unknown }) => plain(node));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}

/** A cell as text. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(plain(value)) : String(value);
}

/** The nodes as CSV (RFC 4180). */
export function csv(nodes: Node[]): string {
  const names = columns(nodes);
  const lines = nodes.map((node) => {
    const cells = flat(node);
    return names.map((name) => field(cell(cells.get(name))));
  });
  return [names.map(field), ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

function field(text: string): string {
  // A spreadsheet would run what begins like this; numbers may.
  const harmless = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** The nodes as lines of JSON, as an export of the server has them. */
export function lines(nodes: Node[]): string {
  return nodes.map((node) => `${JSON.stringify(node)}\n`).join("");
}
