// The queries that somebody has marked. The browser keeps them when the tab is closed and when somebody signs out, for each
// user of the console apart.

import type { Operation } from "../server";
import { session } from "../session";
import { createStore } from "../store";

const key = () => `orderql:favourites:${session.get()?.user ?? ""}`;

function read(): Operation[] {
  try {
    return JSON.parse(localStorage.getItem(key()) ?? "[]") as Operation[];
  } catch {
    return [];
  }
}

/** Those of whoever is signed in, the latest first. */
export const favourites = createStore<Operation[]>(read());

session.subscribe(() => favourites.set(read()));
// Another tab has marked one.
addEventListener("storage", () => favourites.set(read()));

const isSame = (one: Operation, other: Operation) =>
  one.query === other.query && JSON.stringify(one.variables ?? {}) === JSON.stringify(other.variables ?? {});

/** Whether an operation is among favourites. */
export function isFavourite(all: Operation[], operation: Operation): boolean {
  return all.some((one) => isSame(one, operation));
}

/** Marks an operation, or removes its mark. */
export function toggleFavourite(operation: Operation): void {
  const known = read();
  const others = known.filter((one) => !isSame(one, operation));
  const next = others.length < known.length ? others : [operation, ...known];
  favourites.set(next);
  try {
    localStorage.setItem(key(), JSON.stringify(next));
  } catch {
    // The storage is full. The mark lasts as long as the page.
  }
}
