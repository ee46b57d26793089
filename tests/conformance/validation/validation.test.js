// Thousands of random documents are valid for the server if and only if they are valid for graphql-js.
//
// A failed test prints the seed of the document. CONFORMANCE_SEED=… sets the first seed of every family, and
// CONFORMANCE_COUNT=… the number of documents.

import assert from "node:assert/strict";
import { env } from "node:process";
import { after, test } from "node:test";

import { GraphQLError, Kind, buildSchema } from "graphql";

import { publishedSchema } from "../server.js";
import { withBrokenCharacters, withBrokenTokens } from "./documents/broken.js";
import { withConflicts } from "./documents/conflicts.js";
import { withDefinitions } from "./documents/definitions.js";
import { withDirectives } from "./documents/directives.js";
import { withLiteral } from "./documents/literals.js";
import { validDocument } from "./documents/valid.js";
import { withVariable } from "./documents/variables.js";
import { Random } from "./random.js";
import { isExecutable, ruleNames, validateWithReference } from "./reference.js";
import { validateWithServer } from "./server.js";

const FIRST_SEED = Number(env.CONFORMANCE_SEED ?? 1);

/** For each family: the generator, the number of documents, and the minimum shares of valid and of invalid ones. */
const FAMILIES = {
  "documents that follow the schema": [validDocument, 300, 0.8, 0],
  "documents with other tokens": [withBrokenTokens, 1200, 0.05, 0.7],
  "documents with other characters": [withBrokenCharacters, 600, 0.03, 0.7],
  literals: [withLiteral, 800, 0.25, 0.4],
  "equal response keys": [withConflicts, 700, 0.5, 0.2],
  "variables and values": [withVariable, 1000, 0.1, 0.5],
  directives: [withDirectives, 500, 0.2, 0.4],
  "operations and fragments": [withDefinitions, 700, 0.4, 0.3],
};

/** The number of simultaneous requests. */
const SIMULTANEOUS = 8;

// graphql-js creates tens of thousands of errors here, whose stack traces nobody reads.
Error.stackTraceLimit = 0;

const schema = buildSchema(await publishedSchema());
// A schema's text does not say which values a scalar takes.
schema.getType("DateTime").parseLiteral = (node) => {
  if (node.kind !== Kind.STRING) throw new GraphQLError("a timestamp is a string");
  return node.value;
};
const violatedRules = new Set();

for (const [family, [write, count, leastValid, leastInvalid]] of Object.entries(FAMILIES)) {
  test(family, async () => {
    const seeds = Array.from({ length: Number(env.CONFORMANCE_COUNT ?? count) }, (_, index) => FIRST_SEED + index);
    const disagreements = [];
    let valid = 0;
    await forEachSimultaneously(seeds, async (seed) => {
      const text = write(new Random(seed), schema);
      const reference = validateWithReference(schema, text);
      const server = await validateWithServer(text);
      reference.rules.forEach((rule) => violatedRules.add(rule));
      valid += reference.valid ? 1 : 0;
      if (!agree(reference, server, text)) disagreements.push(describe(seed, text, reference, server));
    });
    assert.equal(disagreements.length, 0, `${disagreements.length}:\n${disagreements.slice(0, 5).join("\n\n")}`);
    // A family of only valid or only invalid documents would prove little.
    if (env.CONFORMANCE_COUNT) return;
    assert(valid >= leastValid * count, `only ${valid} of ${count} are valid`);
    assert(count - valid >= leastInvalid * count, `only ${count - valid} of ${count} are not valid`);
  });
}

after(() => {
  if (env.CONFORMANCE_COUNT) return;
  const unviolated = ruleNames.filter((name) => !violatedRules.has(name));
  assert.deepEqual(unviolated, [], "no document violated these rules");
});

/** Whether both accept the document, or both reject it for the same reason: its grammar or the schema. */
function agree(reference, server, text) {
  if (reference.valid || server.valid) return reference.valid === server.valid;
  return reference.parsed === server.parsed || (reference.parsed && !isExecutable(text));
}

function describe(seed, text, reference, server) {
  const result = ({ parsed, valid, message }) =>
    valid ? "valid" : `${parsed ? "not valid" : "does not parse"} (${message})`;
  return `seed ${seed}\n${text}\n  graphql-js: ${result(reference)}\n  server:     ${result(server)}`;
}

async function forEachSimultaneously(items, act) {
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: SIMULTANEOUS }, worker));
}
