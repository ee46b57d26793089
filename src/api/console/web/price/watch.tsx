// Has the server price the query a moment after each change of it.

import { useEffect } from "react";

import { useOperation } from "../operation";
import { price, unreachable, type Operation, type Response } from "../server";
import { session } from "../session";
import { createStore, useStore } from "../store";

interface Priced {
  operation: Operation;
  response: Response;
  /** Whether the query has changed since. Then nothing that its errors suggest may be done any more. */
  isOld?: boolean;
}

/** The last price; null before the first. */
export const priced = createStore<Priced | null>(null);

/** The query has changed. */
export function outdate(): void {
  const last = priced.get();
  if (last && !last.isOld) priced.set({ ...last, isOld: true });
}

/** Changes within this time are priced together. The editor has waited for a tenth of a second already. */
const PAUSE = 100;

export function PriceWatch() {
  const operation = useOperation();
  const current = useStore(session);
  const isAway = useStore(unreachable) !== null;
  useEffect(() => {
    if (!operation || !current) {
      priced.set(null);
      return;
    }
    // Asks again when the server is back.
    if (isAway) return;
    outdate();
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        priced.set({ operation, response: await price(operation, abort.signal) });
      } catch {
        // Another change came before the price, or nobody is signed in any more.
      }
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [operation, current, isAway]);
  return null;
}
