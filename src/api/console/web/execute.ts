// Runs what is in the editor, and keeps what was answered. While the server is away, the last response stays.

import type { Fetcher } from "@graphiql/toolkit";

import { requestHeaders } from "./headers";
import { note } from "./history/history";
import { answered, type Answered } from "./response/answered";
import { run, SignedOut, Unreachable, WAITING, type Operation, type Response } from "./server";
import { askToSignIn, session } from "./session";
import { createStore } from "./store";

/** That the last run found no server, and the response that is shown again; null if it found one. */
export const missed = createStore<{ shown: Answered | null } | null>(null);

/** As many responses are kept. */
const LENGTH = 20;

let waits = false;

/** Has the next run wait for its credits. */
export function waitForCredits(): void {
  waits = true;
}

/** Shows a response, or that there is none. */
function show(operation: Operation, response: Response) {
  answered.set([{ at: Date.now(), operation, response }, ...answered.get()].slice(0, LENGTH));
  return response as never;
}

export const execute: Fetcher = async (parameters, options) => {
  if (!session.get()) askToSignIn("A query needs a token.");
  const operation = {
    query: parameters.query,
    variables: parameters.variables as Record<string, unknown> | undefined,
    operationName: parameters.operationName,
  };
  const waiting = waits ? WAITING : {};
  waits = false;
  try {
    const response = await run(operation, { ...requestHeaders(options?.headers), ...waiting });
    note(operation, response);
    missed.set(null);
    return show(operation, response);
  } catch (error) {
    if (error instanceof Unreachable) {
      const shown = answered.get().find((one) => one.operation.query === operation.query) ?? null;
      missed.set({ shown });
      if (shown) return shown.response as never;
    }
    if (error instanceof SignedOut || error instanceof Unreachable || error instanceof TypeError) {
      return show(operation, { errors: [{ message: error.message }] });
    }
    throw error;
  }
};
