// Runs what is in the editor, and notes what was paid for it.

import type { Fetcher } from "@graphiql/toolkit";

import { note } from "./price/history";
import { run, SignedOut } from "./server";
import { askToSignIn, session } from "./session";

export const execute: Fetcher = async (parameters) => {
  if (!session.get()) askToSignIn("A query needs a token.");
  const operation = {
    query: parameters.query,
    variables: parameters.variables as Record<string, unknown> | undefined,
    operationName: parameters.operationName,
  };
  try {
    const response = await run(operation);
    note(operation, response);
    return response as never;
  } catch (error) {
    if (error instanceof SignedOut) return { errors: [{ message: error.message }] } as never;
    throw error;
  }
};
