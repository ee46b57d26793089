// The result of the server for a document.

import { post } from "../server.js";

/** The codes for documents that do not parse or are not valid. */
const NOT_PARSED = "GRAPHQL_PARSE_FAILED";
const NOT_VALID = "GRAPHQL_VALIDATION_FAILED";

/** Codes for valid documents: of page sizes, search strings, cursors, depth and cost. */
const BEYOND_GRAPHQL = [
  ...["FIRST_REQUIRED", "FIRST_TOO_LARGE", "COST_EXCEEDED", "DEPTH_EXCEEDED", "BAD_USER_INPUT"],
  ...["FIELD_NOT_FILTERABLE", "OPERATOR_NOT_ALLOWED", "MALFORMED_QUERY"],
];

/** Whether the document parses and is valid. The server does not execute it. */
export async function validateWithServer(text) {
  const { errors = [], extensions } = await post({ query: text }, { "graphql-cost": "validate" });
  const codes = errors.map((error) => error.extensions.code);
  const unexpected = codes.find((code) => ![NOT_PARSED, NOT_VALID, ...BEYOND_GRAPHQL].includes(code));
  if (unexpected || (!codes.length && !extensions?.cost)) throw new Error(`neither valid nor invalid: ${JSON.stringify(errors)}\n${text}`);
  const failed = errors.find((error) => [NOT_PARSED, NOT_VALID].includes(error.extensions.code));
  return { parsed: failed?.extensions.code !== NOT_PARSED, valid: !failed, message: failed?.message };
}
