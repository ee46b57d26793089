// The texts in GraphiQL's editors.

import { useGraphiQL, type MonacoEditor } from "@graphiql/react";
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

/** Puts an operation into the editors. */
export function useEditors(): (operation: Operation) => void {
  const query = useGraphiQL((state) => state.queryEditor);
  const variables = useGraphiQL((state) => state.variableEditor);
  return (operation) => {
    replace(query, operation.query);
    const hasVariables = Object.keys(operation.variables ?? {}).length > 0;
    if (hasVariables) replace(variables, JSON.stringify(operation.variables, null, 2));
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
