// The text of a document, its fields and where they are.

import { Kind, parse, visit, type DocumentNode, type FieldNode, type OperationDefinitionNode, type SelectionSetNode } from "graphql";

import type { Location } from "./server";

/** The document, or null if its syntax is wrong. */
export function parsed(query: string): DocumentNode | null {
  try {
    return parse(query);
  } catch {
    return null;
  }
}

/** The operation that is run. */
export function operationOf(document: DocumentNode, name?: string | null): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  return operations.find((operation) => operation.name?.value === name) ?? operations[0];
}

/** The field that begins at a location. */
export function fieldAt(document: DocumentNode, { line, column }: Location): FieldNode | undefined {
  let found: FieldNode | undefined;
  visit(document, {
    Field(node) {
      const start = node.loc?.startToken;
      if (start?.line === line && start.column === column) found = node;
    },
  });
  return found;
}

/** Calls `visitor` for each selected field with its response path; those of fragments at each place where they are spread. */
export function visitFields(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  visitor: (field: FieldNode, path: string) => void,
): void {
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );
  function visitSet(set: SelectionSetNode | undefined, prefix: string, spread: string[]) {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FIELD) {
        const path = prefix + (selection.alias ?? selection.name).value;
        visitor(selection, path);
        visitSet(selection.selectionSet, `${path}/`, spread);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        visitSet(selection.selectionSet, prefix, spread);
      } else if (!spread.includes(selection.name.value)) {
        visitSet(fragments.get(selection.name.value)?.selectionSet, prefix, [...spread, selection.name.value]);
      }
    }
  }
  visitSet(operation.selectionSet, "", []);
}

/** The offset behind a field's name and arguments. */
export function endOfHead(field: FieldNode): number {
  const last = field.directives?.at(-1) ?? field.arguments?.at(-1);
  if (!last) return field.name.loc?.end ?? 0;
  const end = last.loc?.endToken.next;
  return last.kind === Kind.ARGUMENT && end ? end.end : (last.loc?.end ?? 0);
}

/** A change of a text. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** The text with the changes, none of which overlap. */
export function edited(text: string, edits: Edit[]): string {
  const fromTheEnd = [...edits].sort((one, other) => other.start - one.start);
  return fromTheEnd.reduce((changed, edit) => changed.slice(0, edit.start) + edit.text + changed.slice(edit.end), text);
}
