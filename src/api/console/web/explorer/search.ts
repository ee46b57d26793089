// Finds fields by their names, wherever they are in the schema.

import type { GraphQLSchema } from "graphql";

import { fieldsBelow, rootGroups, type Field, type Path } from "./selection";

/** A field, with the fields around it from the root on, itself the last. */
export type Chain = readonly Field[];

/** As many are shown. */
export const MOST = 40;

/** The path that selects a field. */
export function pathOf(chain: Chain): Path {
  return chain.flatMap((field, index) => [...(index > 0 ? fieldsBelow(chain[index - 1]!).path : []), field.name]);
}

/** The fields whose names contain a text in lower case, those nearest to the roots first. A type is entered on the shortest way. */
export function search(schema: GraphQLSchema, wanted: string): Chain[] {
  const found: Chain[] = [];
  const seen = new Set<unknown>();
  let level: Chain[] = rootGroups(schema).flatMap(({ roots }) => roots.map((root) => [root]));
  while (level.length > 0) {
    const next: Chain[] = [];
    for (const chain of level) {
      const field = chain.at(-1)!;
      if (field.name.toLowerCase().includes(wanted)) found.push(chain);
      const { fields } = fieldsBelow(field);
      // A connection and a lookup lead to the same fields.
      if (seen.has(fields[0])) continue;
      seen.add(fields[0]);
      next.push(...fields.map((inner) => [...chain, inner]));
    }
    level = next;
  }
  return found;
}
