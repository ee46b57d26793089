// The schema rules of graphql-eslint over the published schema: all of them, and those of Relay. What is off has its reason here.

import { env } from "node:process";
import graphql from "@graphql-eslint/eslint-plugin";

const { "flat/schema-all": all, "flat/schema-relay": relay } = graphql.configs;

/** Nothing is without a description. */
const descriptions = {
  "@graphql-eslint/require-description": [
    "error",
    {
      types: true,
      rootField: true,
      DirectiveDefinition: true,
      EnumValueDefinition: true,
      FieldDefinition: true,
      InputValueDefinition: true,
    },
  ],
};

const [severity, { "ObjectTypeDefinition,ObjectTypeExtension": _, ...naming }] = all.rules["@graphql-eslint/naming-convention"];

const decided = {
  // The most important comes first: keys, then what a row has, then its connections.
  "@graphql-eslint/alphabetize": "off",
  // One line is published in quotes, several in triple quotes. Both are the same description.
  "@graphql-eslint/description-style": "off",
  // Types are named as OFBiz names its entities, of which some are types: `ShipmentMethodType`.
  "@graphql-eslint/naming-convention": [severity, naming],
  // Fields are named as OFBiz names its columns: `orderId`. Clients of the API that this one replaces select them.
  "@graphql-eslint/no-typename-prefix": "off",
  // A change feed is read forward only.
  "@graphql-eslint/relay-arguments": ["error", { includeBoth: false }],
  // There is no `node(id:)`, because keys have several columns. Each type has lookups by its own keys. The groups of totals are a list,
  // since there is no cursor of a group.
  "@graphql-eslint/relay-edge-types": ["error", { shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false }],
  // A collection without rows is an empty page, never null. An error of one root leaves no data for the others either.
  "@graphql-eslint/require-nullable-result-in-root": "off",
  // Keys have the names of OFBiz's columns, and many have several.
  "@graphql-eslint/strict-id-in-types": "off",
};

export default [
  {
    files: ["published.graphql"],
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: env.ORDERQL_SDL } } },
    plugins: { "@graphql-eslint": graphql },
    rules: { ...all.rules, ...relay.rules, ...descriptions, ...decided },
  },
];
