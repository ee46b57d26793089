// The schema that introspection tells is the one that the server publishes as text.

import assert from "node:assert/strict";
import { test } from "node:test";

import { buildClientSchema, buildSchema, getIntrospectionQuery, printSchema, validateSchema } from "graphql";

import { publishedSchema, query } from "./server.js";

/** All that a tool can ask for. */
const EVERYTHING = {
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
};

test("introspection tells the published schema, in its order", async () => {
  const published = buildSchema(await publishedSchema());
  const told = buildClientSchema(await query(getIntrospectionQuery(EVERYTHING)));
  assert.deepEqual(validateSchema(published), []);
  assert.deepEqual(validateSchema(told), []);
  assert.equal(printSchema(told), printSchema(published));
  assert.deepEqual(directives(told), directives(published));
});

test("the answer makes a schema, whatever a tool leaves out of the question", async () => {
  const published = buildSchema(await publishedSchema());
  for (const left of Object.keys(EVERYTHING)) {
    const told = buildClientSchema(await query(getIntrospectionQuery({ ...EVERYTHING, [left]: false })));
    assert.deepEqual(validateSchema(told), [], left);
    assert.deepEqual(Object.keys(told.getTypeMap()).sort(), Object.keys(published.getTypeMap()).sort(), left);
  }
});

/**
 * Every directive with its arguments and places; printing leaves out those that GraphQL defines itself. To these
 * graphql-js adds a place that is only in drafts newer than the specification of September 2025.
 */
function directives(schema) {
  const all = schema.getDirectives().map(({ name, locations, isRepeatable, args }) => ({
    name,
    locations: locations.filter((location) => location !== "DIRECTIVE_DEFINITION"),
    isRepeatable,
    args: args.map((argument) => `${argument.name}: ${argument.type}`),
  }));
  return all.sort((one, other) => one.name.localeCompare(other.name));
}
