// Thousands of documents, each from a seed, are as valid for the server as they are for graphql-js.
//
// A disagreement is told with its seed: CONFORMANCE_SEED=… has every family begin with that one. CONFORMANCE_COUNT=…
// says how many documents each family has.

import assert from "node:assert/strict";
import { env } from "node:process";
import { after, test } from "node:test";

import { buildSchema } from "graphql";

import { publishedSchema } from "../server.js";
import { withBrokenCharacters, withBrokenTokens } from "./documents/broken.js";
import { withConflicts } from "./documents/conflicts.js";
import { withDefinitions } from "./documents/definitions.js";
import { withDirectives } from "./documents/directives.js";
import { withLiteral } from "./documents/literals.js";
import { validDocument } from "./documents/valid.js";
import { withVariable } from "./documents/variables.js";
import { Random } from "./random.js";
import { isExecutable, referenceVerdict, ruleNames } from "./reference.js";
import { serverVerdict } from "./server.js";

const FIRST_SEED = Number(env.CONFORMANCE_SEED ?? 1);

/** For each family its documents, how many there are, and the least parts of them that are valid and that are not. */
const FAMILIES = {
  "documents that follow the schema": [validDocument, 300, 0.8, 0],
  "documents with other tokens": [withBrokenTokens, 1200, 0.05, 0.7],
  "documents with other characters": [withBrokenCharacters, 600, 0.03, 0.7],
  literals: [withLiteral, 800, 0.25, 0.4],
  "keys that meet": [withConflicts, 700, 0.5, 0.2],
  "variables and values": [withVariable, 1000, 0.1, 0.5],
  directives: [withDirectives, 500, 0.2, 0.4],
  "operations and fragments": [withDefinitions, 700, 0.4, 0.3],
};

/** Documents that are asked about at the same time, each on a connection of its own. */
const AT_ONCE = 8;

// graphql-js makes tens of thousands of errors here; nobody looks where.
Error.stackTraceLimit = 0;

const schema = buildSchema(await publishedSchema());
const brokenRules = new Set();

for (const [family, [write, count, leastValid, leastInvalid]] of Object.entries(FAMILIES)) {
  test(family, async () => {
    const seeds = Array.from({ length: Number(env.CONFORMANCE_COUNT ?? count) }, (_, place) => FIRST_SEED + place);
    const disagreements = [];
    let valid = 0;
    await eachAtOnce(seeds, async (seed) => {
      const text = write(new Random(seed), schema);
      const reference = referenceVerdict(schema, text);
      const server = await serverVerdict(text);
      reference.rules.forEach((rule) => brokenRules.add(rule));
      valid += reference.valid ? 1 : 0;
      if (!agree(reference, server, text)) disagreements.push(told(seed, text, reference, server));
    });
    assert.equal(disagreements.length, 0, `${disagreements.length}:\n${disagreements.slice(0, 5).join("\n\n")}`);
    // A family that had only the one or the other would show nothing.
    if (env.CONFORMANCE_COUNT) return;
    assert(valid >= leastValid * count, `only ${valid} of ${count} are valid`);
    assert(count - valid >= leastInvalid * count, `only ${count - valid} of ${count} are not valid`);
  });
}

after(() => {
  if (env.CONFORMANCE_COUNT) return;
  const unbroken = ruleNames.filter((name) => !brokenRules.has(name));
  assert.deepEqual(unbroken, [], "no document broke these rules");
});

/** Both find the document valid or not, and where it is not, both for the same reason: its grammar, or the schema. */
function agree(reference, server, text) {
  if (reference.valid || server.valid) return reference.valid === server.valid;
  return reference.parsed === server.parsed || (reference.parsed && !isExecutable(text));
}

function told(seed, text, reference, server) {
  const verdict = ({ parsed, valid, message }) =>
    valid ? "valid" : `${parsed ? "not valid" : "no document"} (${message})`;
  return `seed ${seed}\n${text}\n  graphql-js: ${verdict(reference)}\n  server:     ${verdict(server)}`;
}

async function eachAtOnce(items, act) {
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
