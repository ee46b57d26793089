// Runs Relay's compiler on a schema and the documents of this folder.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const COMPILER = createRequire(import.meta.url).resolve("relay-compiler/cli.js");

/** Compiles and returns the artifacts with these names. Throws if the documents or the schema have errors. */
export function compile(schema, names) {
  // The artifacts are CommonJS modules, so they need a folder without this package's `type`.
  const folder = mkdtempSync(join(tmpdir(), "orderql-relay-"));
  try {
    mkdirSync(join(folder, "artifacts"));
    copyFileSync(join(FOLDER, "Orders.js"), join(folder, "Orders.js"));
    writeFileSync(join(folder, "schema.graphql"), schema);
    const config = {
      src: ".",
      schema: "schema.graphql",
      language: "javascript",
      artifactDirectory: "artifacts",
      eagerEsModules: false,
    };
    writeFileSync(join(folder, "relay.config.json"), JSON.stringify(config));
    execFileSync(process.execPath, [COMPILER, "relay.config.json"], { cwd: folder, stdio: "pipe" });
    const artifacts = createRequire(join(folder, "artifacts", "any.js"));
    return names.map((name) => artifacts(`./${name}.graphql.js`));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
