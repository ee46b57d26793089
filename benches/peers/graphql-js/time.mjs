// Prints how long graphql-js takes to parse and validate documents, after a warm-up. Reads {"sdl", "documents": [[name, text]]}
// from standard input.

import { readFileSync } from "node:fs";

import { buildSchema, parse, validate } from "graphql";

const WARM_UP_MS = 1000;
const ROUND_MS = 20;
const ROUNDS = 15;

const { sdl, documents } = JSON.parse(readFileSync(0, "utf8"));
const schema = buildSchema(sdl);

function validateOnce(text) {
  const errors = validate(schema, parse(text));
  if (errors.length > 0) throw new Error(`not valid: ${errors[0].message}\n${text}`);
}

// How often a document is validated within a time.
function countWithin(text, ms) {
  const end = performance.now() + ms;
  let count = 0;
  for (; performance.now() < end || count === 0; count++) validateOnce(text);
  return count;
}

function microseconds(text, count) {
  const start = performance.now();
  for (let round = 0; round < count; round++) validateOnce(text);
  return ((performance.now() - start) * 1000) / count;
}

// The compiler optimizes what runs often, so that every document is warmed up before any is timed.
const counts = documents.map(([, text]) => Math.max(1, Math.ceil((countWithin(text, WARM_UP_MS) * ROUND_MS) / WARM_UP_MS)));
const samples = documents.map(() => []);
for (let round = 0; round < ROUNDS; round++) {
  documents.forEach(([, text], index) => samples[index].push(microseconds(text, counts[index])));
}
console.log("graphql-js, median");
documents.forEach(([name], index) => {
  const median = samples[index].sort((a, b) => a - b)[ROUNDS >> 1];
  console.log(`   ${name.padEnd(15)} ${median.toFixed(1).padStart(10)} µs`);
});
