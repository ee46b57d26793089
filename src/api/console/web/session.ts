// Who is signed in. The token is in memory alone: whoever closes or reloads the page is signed out.

import { createStore } from "./store";

export interface Session {
  user: string;
  token: string;
}

export const session = createStore<Session | null>(null);

/** Why somebody has to sign in now; null if nobody is asked to. */
export const signInReason = createStore<string | null>(null);

/** Asks for a user and a password, or a token. */
export function askToSignIn(reason = ""): void {
  signInReason.set(reason);
}

/** Forgets the token, and everything that was read with it. */
export function signOut(): void {
  session.set(null);
  sessionStorage.clear();
  location.reload();
}

/** The user of a token, as it says itself. The server verifies it. */
export function userOf(token: string): string {
  try {
    const payload = token.split(".")[1] ?? "";
    const claims: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    const subject = (claims as { sub?: unknown }).sub;
    return typeof subject === "string" ? subject : "token";
  } catch {
    return "token";
  }
}
