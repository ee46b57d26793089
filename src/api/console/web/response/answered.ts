// The responses of the last runs, and the one that is shown.

import { pick, useGraphiQL } from "@graphiql/react";
import { useMemo } from "react";

import type { Operation, Response } from "../server";
import { createStore, useStore } from "../store";

/** A response, and what it answers. */
export interface Answered {
  /** When it came, in milliseconds. */
  at: number;
  operation: Operation;
  response: Response;
}

/** The last ones, the latest first. */
export const answered = createStore<Answered[]>([]);

/** The one that the active tab shows. GraphiQL keeps the text of each tab's response, and not what it answers. */
export function useShown(): Answered | null {
  const { tabs, activeTabIndex } = useGraphiQL(pick("tabs", "activeTabIndex"));
  const all = useStore(answered);
  const text = tabs[activeTabIndex]?.response;
  return useMemo(() => (text && all.find(({ response }) => JSON.stringify(response, null, 2) === text)) || null, [all, text]);
}
