// The connections of a query whose pages can be read one after the other, and the query for a page of one of them.

import {
  getNamedType,
  isObjectType,
  Kind,
  print,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";

import { operationOf, parsed } from "../document";
import type { Operation } from "../server";

/** A connection of a query, with the lookups around it. */
export interface Connection {
  /** The fields from the root to it, itself the last. */
  fields: FieldNode[];
  /** Its response path. */
  name: string;
}

export interface PageInfo {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor: string | null;
  endCursor: string | null;
}

/** Which page: the first or the last one, or the one behind or before a cursor. */
export interface Position {
  end: "first" | "last";
  cursor?: string | null;
}

const key = (field: FieldNode) => (field.alias ?? field.name).value;

/** The connections that are in no other connection. */
export function connections(schema: GraphQLSchema, { query, operationName }: Operation): Connection[] {
  const document = parsed(query);
  const operation = document && operationOf(document, operationName);
  if (!operation) return [];
  const found: Connection[] = [];
  const around: FieldNode[] = [];
  const types = new TypeInfo(schema);
  visit(
    operation,
    visitWithTypeInfo(types, {
      // What is in fragments belongs to several places.
      FragmentSpread: () => false,
      Field: {
        enter(field) {
          around.push(field);
          const type = getNamedType(types.getType());
          if (isObjectType(type) && type.getFields().edges && type.getFields().pageInfo) {
            found.push({ fields: [...around], name: around.map(key).join(".") });
            around.pop();
            return false;
          }
          return undefined;
        },
        leave() {
          around.pop();
        },
      },
    }),
  );
  return found;
}

const name = (value: string) => ({ kind: Kind.NAME, value }) as const;
const set = (selections: readonly SelectionNode[]): SelectionSetNode => ({ kind: Kind.SELECTION_SET, selections });
const leaf = (value: string): FieldNode => ({ kind: Kind.FIELD, name: name(value) });

/** What is selected from a field with this name. */
function below(field: FieldNode, wanted: string): SelectionNode[] {
  return (field.selectionSet?.selections ?? []).flatMap((selection) =>
    selection.kind === Kind.FIELD && selection.name.value === wanted ? [selection] : [],
  );
}

const PAGE_INFO = ["hasNextPage", "hasPreviousPage", "startCursor", "endCursor"];

/** The operation that reads one page of the connection, and nothing else. Null if it selects no nodes. */
export function pageOperation(
  operation: Operation,
  { fields }: Connection,
  { end, cursor }: Position,
  size: number,
): Operation | null {
  const document = parsed(operation.query);
  const definition = document && operationOf(document, operation.operationName);
  const connection = fields.at(-1);
  if (!definition || !connection) return null;
  const edges = below(connection, "edges") as FieldNode[];
  const nodes = edges.flatMap((edge) => below(edge, "node")) as FieldNode[];
  const selected = nodes.flatMap((node) => node.selectionSet?.selections ?? []);
  if (selected.length === 0) return null;

  const paging = ["first", "last", "after", "before"];
  const kept = (connection.arguments ?? []).filter((argument) => !paging.includes(argument.name.value));
  const given: ArgumentNode[] = [
    { kind: Kind.ARGUMENT, name: name(end), value: { kind: Kind.INT, value: String(size) } },
  ];
  if (cursor) {
    const side = end === "first" ? "after" : "before";
    given.push({ kind: Kind.ARGUMENT, name: name(side), value: { kind: Kind.STRING, value: cursor } });
  }
  const node: FieldNode = { ...leaf("node"), selectionSet: set(selected) };
  const page: FieldNode = {
    ...connection,
    arguments: [...kept, ...given],
    selectionSet: set([
      { ...leaf("edges"), selectionSet: set([node]) },
      { ...leaf("pageInfo"), selectionSet: set(PAGE_INFO.map(leaf)) },
    ]),
  };
  const root = fields.slice(0, -1).reduceRight<FieldNode>((inner, field) => ({ ...field, selectionSet: set([inner]) }), page);
  return only(document, { ...definition, selectionSet: set([root]) }, operation);
}

/** The operation with the fragments and variables that it still uses. */
function only(document: DocumentNode, definition: OperationDefinitionNode, operation: Operation): Operation {
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const whole: DocumentNode = { kind: Kind.DOCUMENT, definitions: [definition, ...fragments] };
  const [separate = whole] = Object.values(separateOperations(whole));
  const used = new Set<string>();
  visit(separate, {
    VariableDefinition: () => false,
    Variable: (variable) => {
      used.add(variable.name.value);
    },
  });
  const declared = (definition.variableDefinitions ?? []).filter(({ variable }) => used.has(variable.name.value));
  const definitions = separate.definitions.map((one) =>
    one.kind === Kind.OPERATION_DEFINITION ? { ...one, variableDefinitions: declared } : one,
  );
  const variables = Object.entries(operation.variables ?? {}).filter(([name]) => used.has(name));
  return {
    query: print({ ...separate, definitions }),
    variables: Object.fromEntries(variables),
    operationName: definition.name?.value,
  };
}

/** The page in the data of a response. */
export function pageOf(data: unknown, { fields }: Connection): { nodes: Record<string, unknown>[]; pageInfo: PageInfo } | null {
  let value = data as Record<string, unknown> | null | undefined;
  for (const field of fields) value = value?.[key(field)] as Record<string, unknown> | null | undefined;
  if (!value) return null;
  const edges = (value.edges ?? []) as { node?: Record<string, unknown> }[];
  return { nodes: edges.flatMap(({ node }) => (node ? [node] : [])), pageInfo: value.pageInfo as PageInfo };
}

/** The page size that the query has, if it is a number. */
export function pageSize({ fields }: Connection): number | undefined {
  const sizes = fields.at(-1)?.arguments?.filter(({ name: { value } }) => value === "first" || value === "last") ?? [];
  const value = sizes[0]?.value;
  return value?.kind === Kind.INT ? Number(value.value) : undefined;
}
