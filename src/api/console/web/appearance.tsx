// The editors' options and colours. GraphiQL's are too faint for some eyes, and do not follow the system once they are shown.

import { useGraphiQL, useMonaco } from "@graphiql/react";
import { useEffect } from "react";

const TRANSPARENT = "#ffffff00";

const THEMES = {
  light: {
    name: "graphiql-LIGHT",
    base: "vs",
    rules: [
      { token: "argument.identifier.gql", foreground: "#5a4fc4" },
      { token: "comment", foreground: "#3f6b3f" },
      { token: "number", foreground: "#06633f" },
    ],
    colors: {
      "editor.background": TRANSPARENT,
      "editorLineNumber.foreground": "#4f6170",
      "editorLineNumber.dimmedForeground": "#4f6170",
      "editorSuggestWidget.background": "#ffffff",
      "editorSuggestWidget.selectedBackground": "#dfe8f5",
      "editorSuggestWidget.selectedForeground": "#1a2a3a",
      "editorHoverWidget.background": "#ffffff",
      "editorWidget.background": "#ffffff",
      focusBorder: "#1a56b0",
    },
  },
  dark: {
    name: "graphiql-DARK",
    base: "vs-dark",
    rules: [
      { token: "argument.identifier.gql", foreground: "#b0acff" },
      { token: "comment", foreground: "#9cc79c" },
      { token: "string", foreground: "#e8a98a" },
      { token: "string.key.json", foreground: "#9cdcfe" },
    ],
    colors: {
      "editor.background": TRANSPARENT,
      "editorLineNumber.foreground": "#a6b3c2",
      "editorLineNumber.dimmedForeground": "#a6b3c2",
      "editorSuggestWidget.background": "#212a3b",
      "editorSuggestWidget.selectedBackground": "#34435c",
      "editorSuggestWidget.selectedForeground": "#ffffff",
      "editorHoverWidget.background": "#212a3b",
      "editorWidget.background": "#212a3b",
      focusBorder: "#8ab8ff",
    },
  },
} as const;

export function Appearance() {
  const monaco = useMonaco((state) => state.monaco);
  const theme = useGraphiQL((state) => state.theme);
  const query = useGraphiQL((state) => state.queryEditor);
  const response = useGraphiQL((state) => state.responseEditor);
  const variables = useGraphiQL((state) => state.variableEditor);
  const headers = useGraphiQL((state) => state.headerEditor);

  useEffect(() => {
    const options = { fontSize: 12.5, wordWrap: "on", lineDecorationsWidth: 6 } as const;
    for (const editor of [query, response, variables, headers]) editor?.updateOptions(options);
    // Within strings the editor suggests nothing unless it is told to.
    query?.updateOptions({ quickSuggestions: { strings: true, other: true, comments: false } });
  }, [query, response, variables, headers]);

  useEffect(() => {
    if (!monaco) return;
    for (const { name, base, rules, colors } of Object.values(THEMES)) {
      monaco.editor.defineTheme(name, { base, inherit: true, rules: [...rules], colors });
    }
    const system = matchMedia("(prefers-color-scheme: dark)");
    const apply = () => monaco.editor.setTheme(THEMES[theme ?? (system.matches ? "dark" : "light")].name);
    apply();
    system.addEventListener("change", apply);
    return () => system.removeEventListener("change", apply);
  }, [monaco, theme]);
  return null;
}
