// Relay's compiler, run on the documents of this folder and on a schema.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const COMPILER = createRequire(import.meta.url).resolve("relay-compiler/cli.js");

/** The artifacts of that name: whatever the compiler finds wrong with the documents or the schema is thrown. */
export function compile(schema, names) {
  // Artifacts require one another as CommonJS modules do, which they may in a folder without a package.
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
