// Requests to the server that is tested.

import { Agent, request as open } from "node:http";
import { env } from "node:process";

const base = required("ORDERQL_URL");
const token = required("ORDERQL_TOKEN");

/** The address of the GraphQL endpoint. */
export const endpoint = `${base}/rest/s1/graphql`;

/** `fetch` with the token. */
export function authorizedFetch(address, init = {}) {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return fetch(address, { ...init, headers });
}

const connections = new Agent({ keepAlive: true });

/** Sends a GraphQL request and returns the JSON of the response. Much faster than `fetch`. */
export function post(body, headers = {}) {
  return new Promise((resolve, reject) => {
    const options = {
      agent: connections,
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    };
    const request = open(endpoint, options, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => resolve(JSON.parse(Buffer.concat(parts).toString())));
    });
    request.on("error", reject);
    request.end(JSON.stringify(body));
  });
}

/** Sends a GraphQL request and returns `data`. Throws if the response has errors. */
export async function query(text, variables = {}) {
  const { data, errors } = await post({ query: text, variables });
  if (errors) throw new Error(`${JSON.stringify(errors)}\n${text}`);
  return data;
}

/** The SDL as the caller sees it. */
export async function publishedSchema() {
  const response = await authorizedFetch(`${endpoint}/sdl`);
  if (!response.ok) throw new Error(`the schema has the status ${response.status}`);
  return response.text();
}

function required(name) {
  if (!env[name]) throw new Error(`${name} is not set: tests/it/clients/conformance.rs starts a server and sets it`);
  return env[name];
}
