// What the server's errors suggest, as changes of the query.

import { Kind, type DocumentNode, type FieldNode } from "graphql";

import { edited, endOfHead, fieldAt, parsed, type Edit } from "../document";
import type { GraphqlError, Location, Operation } from "../server";
import { shortened } from "../texts";

/** A change that a button makes. */
export interface Repair {
  label: string;
  edits: Edit[];
  /** The operation after it. */
  operation: Operation;
}

/** The page size where any will do. */
const PAGE_SIZE = 10;

/** As many names are suggested for one that is misspelt. */
const NAMES = 3;

interface PageSizeEdit {
  path: string[];
  argument: string;
  from: number;
  to: number;
  variable?: string;
  locations?: Location[];
}

interface Smaller {
  shrinks: "outermost" | "nested" | "all";
  estimatedCost: number;
  edits: PageSizeEdit[];
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === "string") : []);

/** As many characters of a difference are shown. */
const SHOWN = 80;

/** What a repair takes out of the text or a variable, and what it puts in its place. */
export interface Difference {
  from: string;
  to: string;
}

/** What a repair changes: in the text each place, and each variable. */
export function differences(before: Operation, { edits, operation: after }: Repair): Difference[] {
  const shown = (value: unknown) => JSON.stringify(value) ?? "";
  const variables = Object.entries(after.variables ?? {}).flatMap(([name, value]) => {
    const known = shown(before.variables?.[name]);
    return known === shown(value) ? [] : [{ from: `$${name}: ${known}`, to: shown(value) }];
  });
  return [...places(edits).map((place) => difference(before.query, place)), ...variables];
}

/** What is shown together: replacements each alone, and insertions with what is between them. */
function places(edits: Edit[]): Edit[][] {
  return edits.every(({ start, end }) => end > start) ? edits.map((edit) => [edit]) : [edits];
}

/** What edits change in a text, in whole names. */
function difference(text: string, edits: Edit[]): Difference {
  let start = Math.min(...edits.map((edit) => edit.start));
  let end = Math.max(...edits.map((edit) => edit.end));
  while (start > 0 && /\w/.test(text[start - 1]!)) start--;
  while (end < text.length && /\w/.test(text[end]!)) end++;
  const from = text.slice(start, end);
  const to = edited(from, edits.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start })));
  return { from: shortened(from, SHOWN), to: shortened(to, SHOWN) };
}

/** The changes that an error suggests. */
export function repairs(operation: Operation, error: GraphqlError): Repair[] {
  const document = parsed(operation.query);
  const facts = error.extensions ?? {};
  if (!document) return [];
  if (facts.code === "COST_EXCEEDED") {
    return ((facts.suggestions ?? []) as Smaller[]).flatMap((smaller) => smallerPages(operation, document, smaller));
  }
  const location = error.locations?.[0];
  const field = location && fieldAt(document, location);
  if (!field) return [];
  const change = (label: string, ...edits: Edit[]): Repair => ({
    label,
    edits,
    operation: { ...operation, query: edited(operation.query, edits) },
  });
  switch (facts.code) {
    case "FIRST_REQUIRED":
      return [change(`Add first: ${PAGE_SIZE}`, withArgument(field, `first: ${PAGE_SIZE}`))];
    case "FIRST_TOO_LARGE":
      return pageSize(field, Number(facts.maxFirst)).map((edit) => change(`At most ${facts.maxFirst}`, edit));
    case "FIELD_NOT_FILTERABLE":
      return searchKey(operation, field, facts).map(([name, edit]) => change(`Search by ${name}`, edit));
    case "GRAPHQL_VALIDATION_FAILED":
      return validation(field, facts).map(([label, ...edits]) => change(label, ...edits));
    default:
      return [];
  }
}

function withArgument(field: FieldNode, text: string): Edit {
  const first = field.arguments?.[0]?.loc;
  const at = first ? first.start : (field.name.loc?.end ?? 0);
  return { start: at, end: at, text: first ? `${text}, ` : `(${text})` };
}

/** Replaces a page size that is in the document. */
function pageSize(field: FieldNode, size: number, name?: string): Edit[] {
  const found = field.arguments?.find(({ name: { value } }) => (name ? value === name : value === "first" || value === "last"));
  const location = found?.value.kind === Kind.INT ? found.value.loc : undefined;
  return location ? [{ start: location.start, end: location.end, text: String(size) }] : [];
}

function smallerPages(operation: Operation, document: DocumentNode, { shrinks, estimatedCost, edits }: Smaller): Repair[] {
  const pages = { outermost: "outer pages", nested: "nested pages", all: "all pages" }[shrinks];
  const sizes = edits.map(({ path, from, to }) => `${path.at(-1)} ${from} → ${to}`).join(", ");
  const variables = { ...operation.variables };
  const changes = edits.flatMap((edit) => {
    if (edit.variable !== undefined) variables[edit.variable] = edit.to;
    const fields = (edit.locations ?? []).map((location) => fieldAt(document, location));
    return fields.flatMap((field) => (field ? pageSize(field, edit.to, edit.argument) : []));
  });
  const changed = { ...operation, query: edited(operation.query, changes), variables };
  return [{ label: `Smaller ${pages}: ${sizes} (${estimatedCost} credits)`, edits: changes, operation: changed }];
}

function searchKey(operation: Operation, field: FieldNode, facts: Record<string, unknown>): [string, Edit][] {
  const value = field.arguments?.find(({ name }) => name.value === "query")?.value;
  const { key, nearest, allowed } = facts;
  if (value?.kind !== Kind.STRING || !value.loc || typeof key !== "string") return [];
  const names = typeof nearest === "string" ? [nearest] : texts(allowed).slice(0, NAMES);
  const { start, end } = value.loc;
  const at = operation.query.slice(start, end).indexOf(`${key}:`);
  if (at < 0) return [];
  return names.map((name) => [name, { start: start + at, end: start + at + key.length, text: name }]);
}

function validation(field: FieldNode, facts: Record<string, unknown>): [string, ...Edit[]][] {
  const [start, end] = [field.loc?.start ?? 0, field.loc?.end ?? 0];
  const suggestions = texts(facts.suggestions).slice(0, NAMES);
  const instead = texts(facts.instead);
  if (instead.length > 1) {
    const way = instead.slice(0, -1);
    const opening: Edit = { start, end: start, text: way.map((name) => `${name} { `).join("") };
    return [[`Select it by ${instead.join(" / ")}`, opening, { start: end, end, text: " }".repeat(way.length) }]];
  }
  if (typeof facts.example === "string" && !field.selectionSet) {
    const at = endOfHead(field);
    return [[`Add ${facts.example}`, { start: at, end: at, text: ` ${facts.example}` }]];
  }
  const rename = (name: { loc?: { start: number; end: number } | undefined } | undefined) =>
    suggestions.flatMap((text): [string, Edit][] => {
      const location = name?.loc;
      return location ? [[`Use ${text}`, { start: location.start, end: location.end, text }]] : [];
    });
  if (typeof facts.argument === "string" && facts.found === undefined) {
    return rename(field.arguments?.find(({ name }) => name.value === facts.argument)?.name);
  }
  return typeof facts.field === "string" && facts.field === field.name.value ? rename(field.name) : [];
}
