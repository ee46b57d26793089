// The headers that somebody adds to the requests, beside the editor's variables.

import { useMonaco } from "@graphiql/react";
import { useEffect } from "react";

/** Those that the console sets itself, in lower case. A token belongs to the session alone. */
const OWN = ["authorization", "accept", "content-type", "cookie"];

/** What the editor suggests, as a JSON schema. */
const KNOWN = {
  type: "object",
  properties: {
    Prefer: { type: "string", description: "wait=SECONDS: the query waits for its credits and its place.", examples: ["wait=10"] },
    "GraphQL-Cost": {
      enum: ["validate", "plan", "analyze"],
      description: "A report in place of the data: the price, the plan, or the time and rows of each branch.",
    },
    "X-GraphQL-Include-Plan": { enum: ["true", "false"], description: "Adds the rows of each branch and the time to the response." },
  },
  additionalProperties: { type: "string" },
};

/** The headers of a request. Fails with what is wrong with them. */
export function requestHeaders(given: unknown): Record<string, string> {
  const headers = Object.entries((given ?? {}) as Record<string, unknown>).map(([name, value]) => {
    if (OWN.includes(name.toLowerCase())) throw new TypeError(`The console sets the header ${name} itself.`);
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || typeof value !== "string" || /[^\t\x20-\x7e]/.test(value)) {
      throw new TypeError(`The header ${name} needs a text in ASCII as its value, and a name without spaces.`);
    }
    return [name, value] as const;
  });
  return Object.fromEntries(headers);
}

/** Completes the names and values of headers. */
export function HeaderCompletion() {
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => {
    const defaults = monaco?.languages.json.jsonDefaults;
    const known = { uri: "orderql:headers", fileMatch: ["*request-headers.json"], schema: KNOWN };
    defaults?.setDiagnosticsOptions({
      ...defaults.diagnosticsOptions,
      schemas: [...(defaults.diagnosticsOptions.schemas ?? []).filter(({ uri }) => uri !== known.uri), known],
    });
  }, [monaco]);
  return null;
}
