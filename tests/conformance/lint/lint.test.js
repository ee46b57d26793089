// Linters of other projects find nothing in the published schema. ORDERQL_SDL is its file.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { env, execPath } from "node:process";
import { test } from "node:test";
import { ESLint } from "eslint";

const folder = new URL(".", import.meta.url);

test("graphql-eslint finds nothing", async () => {
  const eslint = new ESLint({ cwd: folder.pathname });
  const results = await eslint.lintText(readFileSync(env.ORDERQL_SDL, "utf8"), { filePath: "published.graphql" });
  const formatter = await eslint.loadFormatter("stylish");
  assert.equal(results.length, 1);
  assert.equal(await formatter.format(results), "");
});

test("graphql-schema-linter finds nothing", () => {
  const linter = new URL("../node_modules/graphql-schema-linter/lib/cli.js", folder).pathname;
  const { status, stdout, stderr } = spawnSync(execPath, [linter, env.ORDERQL_SDL], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
});
