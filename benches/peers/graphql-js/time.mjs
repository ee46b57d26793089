// Times `parse` and `validate` over documents, warmed. Reads {"sdl", "documents": [text], "warm", "rounds"} from its standard
// input, and answers with the median nanoseconds of each document.

import { readFileSync } from "node:fs";

import { buildSchema, parse, validate } from "graphql";

const { sdl, documents, warm, rounds } = JSON.parse(readFileSync(0, "utf8"));
const schema = buildSchema(sdl);

function once(text) {
  const errors = validate(schema, parse(text));
  if (errors.length > 0) throw new Error(`not valid: ${errors[0].message}\n${text}`);
}

// The time that this thread ran on a processor, from Linux; or that on the wall.
function nanoseconds() {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]);
  } catch {
    return Number(process.hrtime.bigint());
  }
}

function timed(text, times) {
  const start = nanoseconds();
  for (let time = 0; time < times; time++) once(text);
  return (nanoseconds() - start) / times;
}

// The code is compiled by what it does often, so each document is asked for some time before it counts, and in turns.
function settled(text) {
  const end = process.hrtime.bigint() + BigInt(warm) * 1_000_000n;
  let times = 0;
  for (; process.hrtime.bigint() < end || times === 0; times++) once(text);
  return Math.max(1, Math.ceil((times * 20) / warm));
}

const times = documents.map(settled);
const samples = documents.map(() => []);
for (let round = 0; round < rounds; round++) {
  documents.forEach((text, place) => samples[place].push(timed(text, times[place])));
}
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
console.log(JSON.stringify(samples.map(median)));
