// The texts in GraphiQL's editors.

import { tryParseJSONC, useGraphiQL, type MonacoEditor } from "@graphiql/react";
import { useCallback, useSyncExternalStore } from "react";

import type { Operation } from "./server";

/** Replaces the text of an editor, so that it can be undone. */
function replace(editor: MonacoEditor | undefined, text: string) {
  const model = editor?.getModel();
  if (!editor || !model || model.getValue() === text) return;
  editor.pushUndoStop();
  editor.executeEdits("console", [{ range: model.getFullModelRange(), text }]);
  editor.pushUndoStop();
}

/** Whether a text has these variables, however it is written. */
function isSame(text: string | undefined, variables: Record<string, unknown> | undefined): boolean {
  try {
    return JSON.stringify(tryParseJSONC(text ?? "") ?? {}) === JSON.stringify(variables ?? {});
  } catch {
    return false;
  }
}

/** Puts an operation into the editors. */
export function useEditors(): (operation: Operation) => void {
  const query = useGraphiQL((state) => state.queryEditor);
  const variables = useGraphiQL((state) => state.variableEditor);
  return (operation) => {
    replace(query, operation.query);
    const given = Object.keys(operation.variables ?? {}).length > 0 ? operation.variables : undefined;
    if (!isSame(variables?.getValue(), given)) replace(variables, given ? JSON.stringify(given, null, 2) : "");
  };
}

/** The text of the query editor at this moment, and what changes it. */
export function useQueryText(): [string, (change: (text: string) => string) => void] {
  const editor = useGraphiQL((state) => state.queryEditor);
  const subscribe = useCallback(
    (listener: () => void) => {
      const changes = [editor?.onDidChangeModelContent(listener), editor?.onDidChangeModel(listener)];
      return () => changes.forEach((change) => change?.dispose());
    },
    [editor],
  );
  const text = useSyncExternalStore(subscribe, () => editor?.getValue() ?? "");
  return [text, (change) => replace(editor, change(editor?.getValue() ?? ""))];
}
