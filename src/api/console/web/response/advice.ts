// What somebody can do about an error, where its message does not say so.

import type { GraphqlError } from "../server";

/** The message of an error, with whom to ask, and for what. */
export function advised({ message, extensions }: GraphqlError): string {
  if (extensions?.code !== "FORBIDDEN") return message;
  const place = /\bthe grant on (\S+)/.exec(message)?.[1];
  const command = place ? `: orderql grant add GROUP ${place}, with one of your groups` : "";
  return `${message}. Ask an operator of this server for it${command}.`;
}
