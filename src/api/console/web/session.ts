// Who is signed in. The token is in the tab's session storage, so that reloading the page does not sign out. It is removed when
// it expires, when somebody signs out and when the tab is closed. Other tabs and requests of other pages never have it.

import { createStore, createStoredStore } from "./store";

export interface Session {
  user: string;
  token: string;
}

export const session = createStoredStore<Session | null>(sessionStorage, "orderql:session", null);

/** Why somebody has to sign in now; null if nobody is asked to. */
export const signInReason = createStore<string | null>(null);

/** Asks for a user and a password, or a token. */
export function askToSignIn(reason = ""): void {
  signInReason.set(reason);
}

/** The server accepts the token no more. */
export function endSession(): void {
  session.set(null);
  askToSignIn("Your session has ended. Sign in again.");
}

/** Forgets the token, and everything that was read with it. */
export function signOut(): void {
  session.set(null);
  sessionStorage.clear();
  location.reload();
}

interface Claims {
  sub?: unknown;
  exp?: unknown;
}

/** What a token says of itself. The server verifies it. */
function claimsOf(token: string): Claims {
  try {
    const payload = token.split(".")[1] ?? "";
    return JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))) as Claims;
  } catch {
    return {};
  }
}

/** The user of a token. */
export function userOf(token: string): string {
  const { sub } = claimsOf(token);
  return typeof sub === "string" ? sub : "token";
}

/** The longest time that a browser's timers can wait, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Ends the session when its token expires. */
export function watchExpiry(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = () => {
    clearTimeout(timer);
    const token = session.get()?.token;
    const expiry = token && claimsOf(token).exp;
    if (typeof expiry !== "number") return;
    const left = expiry * 1000 - Date.now();
    if (left <= 0) endSession();
    else timer = setTimeout(watch, Math.min(left, LONGEST_TIMER));
  };
  watch();
  const unsubscribe = session.subscribe(watch);
  return () => {
    clearTimeout(timer);
    unsubscribe();
  };
}
