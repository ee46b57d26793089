// The server that is held against others: where it is, and who asks.

import { env } from "node:process";

const base = required("ORDERQL_URL");
const token = required("ORDERQL_TOKEN");

/** Where queries are answered. */
export const endpoint = `${base}/rest/s1/graphql`;

/** `fetch`, with the token. Connections are kept alive. */
export function authorizedFetch(address, init = {}) {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return fetch(address, { ...init, headers });
}

/** Posts a GraphQL request and returns the answer's JSON, whatever it says. */
export async function post(request, headers = {}) {
  const response = await authorizedFetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(request),
  });
  return response.json();
}

/** Posts a GraphQL request and returns its data; throws where it is refused. */
export async function query(text, variables = {}) {
  const { data, errors } = await post({ query: text, variables });
  if (errors) throw new Error(`${JSON.stringify(errors)}\n${text}`);
  return data;
}

/** The schema that the server publishes, as text. */
export async function publishedSchema() {
  const response = await fetch(`${endpoint}/sdl`);
  if (!response.ok) throw new Error(`the schema is answered with ${response.status}`);
  return response.text();
}

function required(name) {
  if (!env[name]) throw new Error(`${name} is not set: tests/conformance.rs starts a server and sets it`);
  return env[name];
}
