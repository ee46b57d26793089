// The fields of a query as a tree, and the query with one of them added, removed or given an argument.

import {
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  Kind,
  OperationTypeNode,
  parseValue,
  print,
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from "graphql";

import { operationOf, parsed } from "../document";

export type Field = GraphQLField<unknown, unknown>;

/** The names of fields, from the root on. */
export type Path = readonly string[];

/** The page size of a connection that is added. */
const PAGE_SIZE = 10;

const NO_DOCUMENT: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

const name = (value: string) => ({ kind: Kind.NAME, value }) as const;
const isBlank = (text: string) => !text.replace(/#.*/g, "").trim();

/** The document of a text, which may have nothing but comments. Null if its syntax is wrong. */
const documentOf = (text: string) => (isBlank(text) ? NO_DOCUMENT : parsed(text));

/** What the operation of a text selects. Null if there is a syntax error. */
export function selectionOf(text: string, operationName?: string | null): SelectionSetNode | null {
  const document = documentOf(text);
  if (!document) return null;
  return operationOf(document, operationName)?.selectionSet ?? { kind: Kind.SELECTION_SET, selections: [] };
}

/** Where a field with this name is among selections. One without an alias comes before others. */
function indexOf(set: SelectionSetNode | undefined, wanted: string): number {
  const selections = set?.selections ?? [];
  const isWanted = (alias: boolean) =>
    selections.findIndex((one) => one.kind === Kind.FIELD && one.name.value === wanted && Boolean(one.alias) === alias);
  return isWanted(false) >= 0 ? isWanted(false) : isWanted(true);
}

/** The field at a path, if it is selected. */
export function fieldAtPath(set: SelectionSetNode | undefined, [first, ...rest]: Path): FieldNode | undefined {
  const found = first === undefined ? undefined : set?.selections[indexOf(set, first)];
  if (found?.kind !== Kind.FIELD) return undefined;
  return rest.length > 0 ? fieldAtPath(found.selectionSet, rest) : found;
}

/** The fields of a type, and the path to them: those of a connection's nodes for a connection. */
export function fieldsBelow(field: Field): { path: Path; fields: Field[] } {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) return { path: [], fields: [] };
  const { edges, pageInfo } = type.getFields();
  const edge = edges && pageInfo && getNamedType(edges.type);
  const node = isObjectType(edge) ? edge.getFields().node : undefined;
  if (!node) return { path: [], fields: Object.values(type.getFields()) };
  return { path: ["edges", "node"], fields: fieldsBelow(node).fields };
}

/** Roots that find their rows in the same way. */
export interface Group {
  title: string;
  roots: Field[];
}

/** The roots of a schema by how they find their rows. */
export function rootGroups(schema: GraphQLSchema): Group[] {
  const roots = Object.values((schema.getQueryType() as GraphQLObjectType | undefined)?.getFields() ?? {});
  const groups = { "Lists and searches": [] as Field[], "One by its key": [] as Field[], "Totals and others": [] as Field[] };
  for (const root of roots) {
    const isList = fieldsBelow(root).path.length > 0;
    const isLookup = root.args.some(isRequiredArgument) && !isNonNullType(root.type);
    groups[isList ? "Lists and searches" : isLookup ? "One by its key" : "Totals and others"].push(root);
  }
  return Object.entries(groups).flatMap(([title, roots]) => (roots.length > 0 ? [{ title, roots }] : []));
}

/** A field that selects nothing yet: a connection has a page size. */
function bare(field: Field): FieldNode {
  const node: FieldNode = { kind: Kind.FIELD, name: name(field.name) };
  return fieldsBelow(field).path.length > 0 && field.args.some((argument) => argument.name === "first")
    ? withArgument(node, "first", { kind: Kind.INT, value: String(PAGE_SIZE) })
    : node;
}

/** A field around another one, as it is added with that. */
function missing(wanted: string, around: readonly Field[]): FieldNode {
  const field = around.find((one) => one.name === wanted);
  return field ? bare(field) : { kind: Kind.FIELD, name: name(wanted) };
}

/** A field as it is added: with the first of its leaves, which is a part of its key. */
function added(field: Field): FieldNode {
  const { path, fields } = fieldsBelow(field);
  const first = fields.find((one) => isLeafType(getNamedType(one.type)) && one.args.length === 0);
  const names = first ? [...path, first.name] : [];
  const selectionSet = names.reduceRight<SelectionSetNode | undefined>(
    (inner, one) => ({
      kind: Kind.SELECTION_SET,
      selections: [{ kind: Kind.FIELD, name: name(one), ...(inner && { selectionSet: inner }) }],
    }),
    undefined,
  );
  return { ...bare(field), ...(selectionSet && { selectionSet }) };
}

function withArgument(field: FieldNode, argument: string, value: ValueNode | null): FieldNode {
  const given = field.arguments ?? [];
  const index = given.findIndex((one) => one.name.value === argument);
  const next = value ? [{ kind: Kind.ARGUMENT, name: name(argument), value } as const] : [];
  const all = index < 0 ? [...given, ...next] : [...given.slice(0, index), ...next, ...given.slice(index + 1)];
  return { ...field, arguments: all };
}

/** The selections with another field at a path, or without. Whatever then selects nothing is removed too. */
function changed(
  set: SelectionSetNode | undefined,
  [first = "", ...rest]: Path,
  change: (field: FieldNode | undefined) => FieldNode | undefined,
  around: readonly Field[] = [],
): SelectionSetNode | undefined {
  const selections = set?.selections ?? [];
  const index = indexOf(set, first);
  const found = selections[index] as FieldNode | undefined;
  const inner = rest.length > 0 ? changed(found?.selectionSet, rest, change, around) : undefined;
  const outer = inner && { ...(found ?? missing(first, around)), selectionSet: inner };
  const next = rest.length > 0 ? outer : change(found);
  const all = index < 0 ? [...selections] : [...selections.slice(0, index), ...selections.slice(index + 1)];
  if (next) all.splice(index < 0 ? all.length : index, 0, next);
  return all.length > 0 ? { kind: Kind.SELECTION_SET, selections: all } : undefined;
}

/** The text with a changed field. It keeps the comments before its first definition. */
function edited(
  text: string,
  operationName: string | null | undefined,
  path: Path,
  change: (field: FieldNode | undefined) => FieldNode | undefined,
  around: readonly Field[] = [],
): string {
  const document = documentOf(text);
  if (!document) return text;
  const operation = operationOf(document, operationName);
  const selectionSet = changed(operation?.selectionSet, path, change, around);
  const added: OperationDefinitionNode[] =
    selectionSet && !operation ? [{ kind: Kind.OPERATION_DEFINITION, operation: OperationTypeNode.QUERY, selectionSet }] : [];
  const kept = document.definitions.flatMap((definition): DefinitionNode[] => {
    if (definition !== operation) return [definition];
    return selectionSet ? [{ ...operation, selectionSet }] : [];
  });
  const comments = /^(?:[^\S\n]*#.*\n|[^\S\n]*\n)*/.exec(text)?.[0] ?? "";
  return comments + [...kept, ...added].map((definition) => `${print(definition)}\n`).join("\n");
}

/** The text with a field that it has not, or without one that it has. The fields around it are added if they are missing. */
export function toggled(text: string, operationName: string | null | undefined, path: Path, field: Field, around: readonly Field[] = []): string {
  return edited(text, operationName, path, (found) => (found ? undefined : added(field)), around);
}

/** The text with an argument of a field, or without it. */
export function argued(
  text: string,
  operationName: string | null | undefined,
  path: Path,
  argument: string,
  value: ValueNode | null,
): string {
  return edited(text, operationName, path, (found) => found && withArgument(found, argument, value));
}

/** What somebody has written as the value of an argument. Texts need no quotes, and variables begin with a dollar sign. */
export function valueOf(written: string, isText: boolean): ValueNode | null {
  if (written === "") return null;
  const text: ValueNode = { kind: Kind.STRING, value: written };
  if (isText && !written.startsWith("$")) return text;
  try {
    return parseValue(written);
  } catch {
    return text;
  }
}

/** A value as somebody would write it. */
export function shown(value: ValueNode | undefined): string {
  if (!value) return "";
  return value.kind === Kind.STRING ? value.value : print(value);
}
