// A value that components read and others change.

import { useSyncExternalStore } from "react";

export interface Store<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(value: T): Store<T> {
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (next === value) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value, as it is now and whenever it changes. */
export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}

/** A store whose value is kept in one of the browser's storages, as JSON. */
export function createStoredStore<T>(storage: Storage, key: string, initial: T): Store<T> {
  const store = createStore(stored(storage, key, initial));
  store.subscribe(() => {
    try {
      if (store.get() === null) storage.removeItem(key);
      else storage.setItem(key, JSON.stringify(store.get()));
    } catch {
      // The storage is full. The page goes on with what is in its memory.
    }
  });
  return store;
}

function stored<T>(storage: Storage, key: string, initial: T): T {
  try {
    return (JSON.parse(storage.getItem(key) ?? "null") as T | null) ?? initial;
  } catch {
    return initial;
  }
}
