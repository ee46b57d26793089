// What was paid since the page was opened.

import type { ExecutedPlan, Operation, Response } from "../server";
import { createStore } from "../store";

/** A query that was run. */
export interface Paid {
  at: Date;
  operation: Operation;
  title: string;
  requested: number;
  actual: number;
  /** How it was run, if the server says so. */
  executed?: ExecutedPlan | undefined;
  /** The code of its first error. */
  error?: string | undefined;
}

/** The last ones, the latest first. */
export const paid = createStore<Paid[]>([]);

const LENGTH = 50;

function title({ query, operationName }: Operation): string {
  return operationName ?? query.replace(/#.*/g, "").replace(/[\s,]+/g, " ").trim().slice(0, 60);
}

/** Notes a query with its response. */
export function note(operation: Operation, response: Response): void {
  const { requestedQueryCost = 0, actualQueryCost = 0 } = response.extensions?.cost ?? {};
  const code = response.errors?.[0]?.extensions?.code;
  const error = typeof code === "string" ? code : undefined;
  // A query that was refused cost nothing.
  const requested = response.data ? requestedQueryCost : 0;
  const executed = response.extensions?.plan;
  const entry = { at: new Date(), operation, title: title(operation), requested, actual: actualQueryCost, executed, error };
  paid.set([entry, ...paid.get()].slice(0, LENGTH));
}
