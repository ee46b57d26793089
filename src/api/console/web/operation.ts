// The operation in the editor.

import { pick, tryParseJSONC, useGraphiQL } from "@graphiql/react";
import { useMemo } from "react";

import type { Operation } from "./server";

/** The operation of the active tab, a moment after each change. Null if there is none, or its variables are not JSON. */
export function useOperation(): Operation | null {
  const { tabs, activeTabIndex, operationName } = useGraphiQL(pick("tabs", "activeTabIndex", "operationName"));
  const tab = tabs[activeTabIndex];
  const query = tab?.query ?? "";
  const variables = tab?.variables ?? "";
  return useMemo(() => {
    if (!query.replace(/#.*/g, "").trim()) return null;
    try {
      return { query, variables: tryParseJSONC(variables), operationName };
    } catch {
      return null;
    }
  }, [query, variables, operationName]);
}
