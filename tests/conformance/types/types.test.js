// The TypeScript types that graphql-codegen generates from the published schema and from queries are correct.

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

const sibling = (name) => fileURLToPath(new URL(name, import.meta.url));
const SCALARS = { Decimal: "string", DateTime: "string" };

const schema = parse(await publishedSchema());
const queries = parse(readFileSync(sibling("queries.graphql"), "utf8"));
assert.deepEqual(validate(buildSchema(await publishedSchema()), queries), []);

const generated = {
  [sibling("schema.ts")]: await generate("schema", schemaTypes),
  [sibling("queries.ts")]: await generate("queries", operations),
};

test("a correct program compiles", () => {
  assert.deepEqual(diagnosticsOf(readFileSync(sibling("uses.ts"), "utf8")), []);
});

test("an incorrect program does not compile", () => {
  const wrong = `
    import type { Order } from "./schema.js";
    import type { OrdersQueryVariables } from "./queries.js";
    export const total = (order: Order): number => order.grandTotal;
    export const variables: OrdersQueryVariables = { first: 1, sortKey: "NOPE" };
  `;
  const [total, sortKey, ...others] = diagnosticsOf(wrong);
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

/** The compiler's messages (`tsc --noEmit --strict`) for a program and the generated files, which are in memory. */
function diagnosticsOf(program) {
  const options = {
    noEmit: true,
    strict: true,
    noUnusedLocals: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ["lib.es2022.d.ts"],
    types: [],
    // Skips the declarations of the language. The generated files are checked.
    skipLibCheck: true,
  };
  const files = { ...generated, [sibling("program.ts")]: program };
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
