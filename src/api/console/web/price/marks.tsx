// Shows behind each field of the query what it costs.

import { useGraphiQL } from "@graphiql/react";
import { useEffect, useRef } from "react";

import { endOfHead, operationOf, parsed, visitFields } from "../document";
import { number } from "../numbers";
import type { FieldCost } from "../server";
import { useStore } from "../store";
import { priced } from "./watch";

/** A price and the offset where it is shown. */
interface Mark {
  offset: number;
  credits: number;
}

/** The marks of a query. A field of a fragment that is spread several times has the sum. */
export function marks(query: string, operationName: string | null | undefined, costs: FieldCost[]): Mark[] {
  const document = parsed(query);
  const operation = document && operationOf(document, operationName);
  if (!operation) return [];
  const left = new Map(costs.map((cost) => [cost.path.join("/"), cost.requestedSubtreeCost]));
  const byOffset = new Map<number, number>();
  visitFields(document, operation, (field, path) => {
    const credits = left.get(path);
    if (credits === undefined) return;
    // A field that is selected several times is paid once.
    left.delete(path);
    const offset = endOfHead(field);
    byOffset.set(offset, (byOffset.get(offset) ?? 0) + credits);
  });
  return [...byOffset].map(([offset, credits]) => ({ offset, credits }));
}

export function Marks() {
  const editor = useGraphiQL((state) => state.queryEditor);
  const current = useStore(priced);
  const shown = useRef<ReturnType<NonNullable<typeof editor>["createDecorationsCollection"]> | null>(null);
  useEffect(() => {
    const model = editor?.getModel();
    // Until the next price is there, the marks stay with their fields.
    if (!editor || !model || current?.isOld) return;
    shown.current ??= editor.createDecorationsCollection();
    const costs = current?.response.extensions?.cost?.fields;
    if (!current || !costs || model.getValue() !== current.operation.query) {
      shown.current.clear();
      return;
    }
    const { query, operationName } = current.operation;
    const decorations = marks(query, operationName, costs).map(({ offset, credits }) => {
      const { lineNumber, column } = model.getPositionAt(offset);
      return {
        range: { startLineNumber: lineNumber, startColumn: column, endLineNumber: lineNumber, endColumn: column },
        options: {
          showIfCollapsed: true,
          after: { content: `\u2009${number(credits)}\u2009`, inlineClassName: "oq-mark", inlineClassNameAffectsLetterSpacing: true },
        },
      };
    });
    shown.current.set(decorations);
  }, [editor, current]);
  return null;
}
