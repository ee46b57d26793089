// TypeScript types that graphql-codegen makes of the published schema and of queries are sound and useful.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { codegen } from "@graphql-codegen/core";
import * as operations from "@graphql-codegen/typescript-operations";
import * as schemaTypes from "@graphql-codegen/typescript";
import { buildSchema, parse, validate } from "graphql";
import ts from "typescript";

import { publishedSchema } from "../server.js";

const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
const SCALARS = { Decimal: "string", DateTime: "string" };

const schema = parse(await publishedSchema());
const queries = parse(readFileSync(beside("queries.graphql"), "utf8"));
assert.deepEqual(validate(buildSchema(await publishedSchema()), queries), []);

const generated = {
  [beside("schema.ts")]: await generate("schema", schemaTypes),
  [beside("queries.ts")]: await generate("queries", operations),
};

test("the types and a program that uses them compile", () => {
  assert.deepEqual(complaints(readFileSync(beside("uses.ts"), "utf8")), []);
});

test("the types tell a program that uses them wrongly", () => {
  const wrong = `
    import type { Order } from "./schema.js";
    import type { OrdersQueryVariables } from "./queries.js";
    export const total = (order: Order): number => order.grandTotal;
    export const variables: OrdersQueryVariables = { first: 1, sortKey: "NOPE" };
  `;
  const [total, sortKey, ...others] = complaints(wrong);
  assert.match(total, /not assignable to type 'number'/);
  assert.match(sortKey, /NOPE/);
  assert.deepEqual(others, []);
});

function generate(name, plugin) {
  return codegen({
    schema,
    documents: [{ location: "queries.graphql", document: queries }],
    filename: `${name}.ts`,
    plugins: [{ [name]: { scalars: SCALARS, defaultScalarType: "unknown", enumType: "string-literal", enumsAsTypes: true } }],
    pluginMap: { [name]: plugin },
    config: {},
  });
}

/** What the compiler (`tsc --noEmit --strict`) says of a program beside the generated files, which are kept in memory. */
function complaints(program) {
  const options = {
    noEmit: true,
    strict: true,
    noUnusedLocals: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ["lib.es2022.d.ts"],
    types: [],
    // The language's own declarations; what is generated is all checked.
    skipLibCheck: true,
  };
  const files = { ...generated, [beside("program.ts")]: program };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (path) => files[path] ?? readFile.call(host, path);
  host.fileExists = (path) => path in files || fileExists.call(host, path);
  host.getSourceFile = (path, version) => {
    const text = host.readFile(path);
    return text === undefined ? undefined : ts.createSourceFile(path, text, version);
  };
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram(Object.keys(files), options, host));
  return diagnostics.map(({ file, messageText }) => {
    return `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
}
