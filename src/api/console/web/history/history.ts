// The queries that were run in this tab, and what was paid for them. Reloading the page keeps them.

import type { ExecutedPlan, Operation, Response } from "../server";
import { createStoredStore } from "../store";

/** A query that was run. */
export interface Paid {
  /** When, in milliseconds. */
  at: number;
  operation: Operation;
  requested: number;
  actual: number;
  /** How it was run, if the server says so. */
  executed?: ExecutedPlan | undefined;
  /** The code of its first error. */
  error?: string | undefined;
}

/** The last ones, the latest first. */
export const paid = createStoredStore<Paid[]>(sessionStorage, "orderql:history", []);

const LENGTH = 50;

/** The name of an operation, or its text in one line. */
export function titleOf({ query, operationName }: Operation): string {
  return operationName ?? query.replace(/#.*/g, "").replace(/[\s,]+/g, " ").trim();
}

/** Notes a query with its response. */
export function note(operation: Operation, response: Response): void {
  const { requestedQueryCost = 0, actualQueryCost = 0 } = response.extensions?.cost ?? {};
  const code = response.errors?.[0]?.extensions?.code;
  const error = typeof code === "string" ? code : undefined;
  // A query that was refused cost nothing, nor does a report.
  const requested = response.data ? requestedQueryCost : 0;
  const executed = response.data ? response.extensions?.plan : undefined;
  const entry = { at: Date.now(), operation, requested, actual: actualQueryCost, executed, error };
  paid.set([entry, ...paid.get()].slice(0, LENGTH));
}
