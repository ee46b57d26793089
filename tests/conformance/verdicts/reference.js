// What graphql-js says of a document.

import { GraphQLError, Kind, parse, specifiedRules, validate } from "graphql";

/**
 * `parsed` where the text is a document, `valid` where it is valid too; `rules` are the names of those that it breaks.
 */
export function referenceVerdict(schema, text) {
  let document;
  try {
    document = parse(text);
  } catch (error) {
    if (error instanceof GraphQLError) return { parsed: false, valid: false, rules: [], message: error.message };
    throw error;
  }
  const broken = new Set();
  const rules = [...specifiedRules, OperationTypeExistenceRule].map((rule) => telling(rule, broken));
  const [first] = validate(schema, document, rules);
  return { parsed: true, valid: first === undefined, rules: [...broken], message: first?.message };
}

/** Names of the rules that a document can break. */
export const ruleNames = [...specifiedRules, OperationTypeExistenceRule]
  .map((rule) => rule.name)
  // The schema has no subscriptions.
  .filter((name) => name !== "SingleFieldSubscriptionsRule");

/**
 * An operation is of a type that the schema has (September 2025, section 5.2.1.1). graphql-js has the rule from version
 * 17 on; 16 says so when it executes.
 */
function OperationTypeExistenceRule(context) {
  return {
    OperationDefinition(node) {
      if (!context.getSchema().getRootType(node.operation)) {
        context.reportError(new GraphQLError(`The schema has no ${node.operation}`, { nodes: node }));
      }
    },
  };
}

/** The rule, which adds its name to a set when it finds something. */
function telling(rule, broken) {
  return (context) => {
    const reportError = (error) => {
      broken.add(rule.name);
      context.reportError(error);
    };
    return rule(Object.create(context, { reportError: { value: reportError } }));
  };
}

/** Whether a document is for executing; others have definitions of types. The server's grammar has no such definitions. */
export function isExecutable(text) {
  const executable = [Kind.OPERATION_DEFINITION, Kind.FRAGMENT_DEFINITION];
  return parse(text).definitions.every((definition) => executable.includes(definition.kind));
}
