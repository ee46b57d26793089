// What the server says of a document.

import { post } from "../server.js";

/** Codes of refusals of documents that are not GraphQL, or not valid. */
const NOT_PARSED = "GRAPHQL_PARSE_FAILED";
const NOT_VALID = "GRAPHQL_VALIDATION_FAILED";

/** Codes of refusals that a valid document may get: those of page sizes, search strings, cursors, depth and cost. */
const BEYOND_GRAPHQL = [
  ...["FIRST_REQUIRED", "FIRST_TOO_LARGE", "COST_EXCEEDED", "DEPTH_EXCEEDED", "BAD_USER_INPUT"],
  ...["FIELD_NOT_FILTERABLE", "OPERATOR_NOT_ALLOWED", "MALFORMED_QUERY"],
];

/** `parsed` and `valid`, as the reference has it. Nothing is run for it. */
export async function serverVerdict(text) {
  const { errors = [], extensions } = await post({ query: text }, { "graphql-cost": "validate" });
  const codes = errors.map((error) => error.extensions.code);
  const strange = codes.find((code) => ![NOT_PARSED, NOT_VALID, ...BEYOND_GRAPHQL].includes(code));
  if (strange || (!codes.length && !extensions?.cost)) throw new Error(`no verdict: ${JSON.stringify(errors)}\n${text}`);
  const failed = errors.find((error) => [NOT_PARSED, NOT_VALID].includes(error.extensions.code));
  return { parsed: failed?.extensions.code !== NOT_PARSED, valid: !failed, message: failed?.message };
}
