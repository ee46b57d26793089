// The editor's workers. Their names have hashes, which `build.mjs` fills in.

declare const WORKERS: Record<"editor" | "json" | "graphql", string>;

const MonacoEnvironment = {
  getWorker(_id: string, label: string) {
    const name = label === "json" || label === "graphql" ? WORKERS[label] : WORKERS.editor;
    return new Worker(new URL(name, import.meta.url), { type: "module" });
  },
};
Object.assign(globalThis, { MonacoEnvironment });
