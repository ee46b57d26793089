// Documents are printed as graphql-js prints them: clients send the hash of that.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { env } from "node:process";
import { test } from "node:test";
import { parse, print } from "graphql";

/** The document; nothing for a text that graphql-js 16 does not read, such as one with descriptions of operations. */
function read(text) {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

test("documents are printed as graphql-js prints them", () => {
  const pairs = JSON.parse(readFileSync(env.ORDERQL_PRINTED, "utf8"));
  const documents = pairs.map(({ text, printed }) => ({ document: read(text), printed }));
  const known = documents.filter(({ document }) => document !== undefined);
  assert(known.length > 50, `${known.length} of ${documents.length}`);
  for (const { document, printed } of known) {
    assert.equal(printed, print(document));
  }
});
