// What somebody can do about an error, where its message does not say so.

import type { GraphqlError } from "../server";

/** Whom to ask, and for what. */
export function advice({ message, extensions }: GraphqlError): string {
  if (extensions?.code !== "FORBIDDEN") return "";
  const place = /\bthe grant on (\S+)/.exec(message)?.[1];
  return place
    ? `Ask an operator of this server for it: orderql grant add GROUP ${place}, with one of your groups.`
    : "Ask an operator of this server for the right to it.";
}
