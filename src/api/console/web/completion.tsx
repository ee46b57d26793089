// Completes the search strings of the argument `query`: keys, comparators and known values.
//
// The published schema says of each root which keys its search takes. Known values are those that the description of the
// field with the key's name lists.

import { useGraphiQL, useMonaco } from "@graphiql/react";
import { getNamedType, isObjectType, type GraphQLField, type GraphQLSchema } from "graphql";
import { useEffect } from "react";

/** A search key of a root. */
interface Key {
  name: string;
  comparators: string[];
  indexed: boolean;
  values: string[];
}

/** What a search string can go on with. */
export interface Choice {
  label: string;
  /** What replaces the last `typed` characters. */
  text: string;
  detail: string;
}

function keysOf(field: GraphQLField<unknown, unknown>): Key[] {
  const connection = getNamedType(field.type);
  const edge = isObjectType(connection) ? connection.getFields().edges : undefined;
  const edges = edge && getNamedType(edge.type);
  const nodeField = isObjectType(edges) ? edges.getFields().node : undefined;
  const node = nodeField && getNamedType(nodeField.type);
  const directives = field.astNode?.directives?.filter(({ name }) => name.value === "search") ?? [];
  return directives.map((directive) => {
    const argument = (name: string) => directive.arguments?.find((one) => one.name.value === name)?.value;
    const key = argument("key");
    const comparators = argument("comparators");
    const indexed = argument("indexed");
    const name = key?.kind === "StringValue" ? key.value : "";
    const description = (isObjectType(node) && node.getFields()[name]?.description) || "";
    return {
      name,
      comparators:
        comparators?.kind === "ListValue"
          ? comparators.values.flatMap((value) => (value.kind === "StringValue" ? [value.value] : []))
          : [],
      indexed: indexed?.kind === "BooleanValue" && indexed.value,
      values: [...new Set(description.match(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g) ?? [])],
    };
  });
}

/** The choices at the end of a text that stops within a search string. */
export function choices(schema: GraphQLSchema, text: string): { choices: Choice[]; typed: number } {
  const none = { choices: [], typed: 0 };
  const found = /([A-Za-z_]\w*)\s*\((?:[^()"]|"(?:[^"\\]|\\.)*")*\bquery\s*:\s*"([^"\n]*)$/.exec(text);
  const field = found?.[1] && schema.getQueryType()?.getFields()[found[1]];
  if (!found || !field) return none;
  const keys = keysOf(field);
  const term = (found[2] ?? "").split(" ").at(-1) ?? "";
  const [, name, comparator = "", list = ""] = /^(\w+):([<>]=?)?(.*)$/.exec(term) ?? [];
  if (name === undefined) {
    const choices = keys.map((key) => ({
      label: key.name,
      text: `${key.name}:`,
      detail: `${key.comparators.join(" ")}${key.indexed ? "" : "; not selective: 50 credits more"}`,
    }));
    return { choices, typed: term.length };
  }
  const key = keys.find((one) => one.name === name);
  if (!key) return none;
  const typed = list.split(",").at(-1) ?? "";
  const values = key.values.map((value) => ({ label: value, text: value, detail: "known value" }));
  const isBare = comparator === "" && list === "";
  const ranges = isBare ? key.comparators.filter((one) => /^[<>]/.test(one)) : [];
  const comparators = ranges.map((one) => ({ label: one, text: one, detail: `${key.name}${one}value` }));
  return { choices: [...comparators, ...values], typed: typed.length };
}

export function Completion() {
  const monaco = useMonaco((state) => state.monaco);
  const schema = useGraphiQL((state) => state.schema);
  useEffect(() => {
    if (!monaco || !schema) return;
    const provider = monaco.languages.registerCompletionItemProvider("graphql", {
      triggerCharacters: ['"', " ", ":", ",", "<", ">"],
      provideCompletionItems(model, position) {
        const before = { startLineNumber: 1, startColumn: 1, endLineNumber: position.lineNumber, endColumn: position.column };
        const { choices: found, typed } = choices(schema, model.getValueInRange(before));
        const range = { ...before, startLineNumber: position.lineNumber, startColumn: position.column - typed };
        const suggestions = found.map(({ label, text, detail }, index) => ({
          label,
          detail,
          insertText: text,
          range,
          kind: monaco.languages.CompletionItemKind.Value,
          sortText: String(index).padStart(3, "0"),
          // After a key come its values.
          ...(text.endsWith(":") ? { command: { id: "editor.action.triggerSuggest", title: "" } } : {}),
        }));
        return { suggestions };
      },
    });
    return () => provider.dispose();
  }, [monaco, schema]);
  return null;
}
