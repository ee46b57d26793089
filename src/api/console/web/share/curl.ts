// A request as a command of a shell.

import type { Operation } from "../server";

/** What stands for the token in a command. */
export const PLACEHOLDER = "$TOKEN";

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The command that sends an operation. Its token is a variable of the shell unless one is given. */
export function curl(url: string, operation: Operation, headers: Record<string, string>, token?: string): string {
  const { query, variables, operationName } = operation;
  const body = { query, ...(variables && { variables }), ...(operationName && { operationName }) };
  const authorization = `Authorization: Bearer ${token ?? PLACEHOLDER}`;
  return [
    `curl -sS ${quoted(url)}`,
    `-H ${token === undefined ? `"${authorization}"` : quoted(authorization)}`,
    `-H ${quoted("Content-Type: application/json")}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(JSON.stringify(body))}`,
  ].join(" \\\n  ");
}

/** The command that gets a token and puts it into the variable. curl asks for the password. */
export function tokenCommand(url: string, user: string): string {
  return `TOKEN=$(curl -sS -X POST -u ${quoted(user)} ${quoted(url)} | jq -r .access_token)`;
}

/** A link that opens the console with an operation. It has neither a token nor headers. */
export function link(url: string, { query, variables }: Operation): string {
  const parameters = new URLSearchParams({ query });
  if (Object.keys(variables ?? {}).length > 0) parameters.set("variables", JSON.stringify(variables, null, 2));
  return `${url}?${parameters}`;
}
