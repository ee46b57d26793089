// Introspection returns the schema that the server publishes as SDL.

import assert from "node:assert/strict";
import { test } from "node:test";

import { buildClientSchema, buildSchema, getIntrospectionQuery, printSchema, validateSchema } from "graphql";

import { publishedSchema, query } from "./server.js";

/** All options of an introspection query. */
const EVERYTHING = {
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
};

test("introspection returns the published schema in its order", async () => {
  const published = buildSchema(await publishedSchema());
  const introspected = buildClientSchema(await query(getIntrospectionQuery(EVERYTHING)));
  assert.match(introspected.description, /^Order management/);
  assert.equal(introspected.description, published.description);
  assert.deepEqual(validateSchema(published), []);
  assert.deepEqual(validateSchema(introspected), []);
  assert.equal(printSchema(introspected), printSchema(published));
  assert.deepEqual(directives(introspected), directives(published));
});

test("every introspection query returns a valid schema, whatever option is off", async () => {
  const published = buildSchema(await publishedSchema());
  for (const option of Object.keys(EVERYTHING)) {
    const introspected = buildClientSchema(await query(getIntrospectionQuery({ ...EVERYTHING, [option]: false })));
    assert.deepEqual(validateSchema(introspected), [], option);
    assert.deepEqual(Object.keys(introspected.getTypeMap()).sort(), Object.keys(published.getTypeMap()).sort(), option);
  }
});

/**
 * Every directive with its arguments and locations, because printing omits GraphQL's own directives. graphql-js adds a location
 * to these that the specification of September 2025 does not have.
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
