// The result of graphql-js for a document.

import { GraphQLError, Kind, parse, specifiedRules, validate } from "graphql";

/** Whether the text parses and is valid, and the names of the rules that it violates. */
export function validateWithReference(schema, text) {
  let document;
  try {
    document = parse(text);
  } catch (error) {
    if (error instanceof GraphQLError) return { parsed: false, valid: false, rules: [], message: error.message };
    throw error;
  }
  const violated = new Set();
  const rules = [...specifiedRules, OperationTypeExistenceRule].map((rule) => recording(rule, violated));
  const [first] = validate(schema, document, rules);
  return { parsed: true, valid: first === undefined, rules: [...violated], message: first?.message };
}

/** The names of the rules that a document can violate. */
export const ruleNames = [...specifiedRules, OperationTypeExistenceRule]
  .map((rule) => rule.name)
  // The schema has no subscriptions.
  .filter((name) => name !== "SingleFieldSubscriptionsRule");

/**
 * The schema must have the type of an operation (September 2025, section 5.2.1.1). graphql-js has this rule since version 17;
 * version 16 checks it during execution.
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
function recording(rule, violated) {
  return (context) => {
    const reportError = (error) => {
      violated.add(rule.name);
      context.reportError(error);
    };
    return rule(Object.create(context, { reportError: { value: reportError } }));
  };
}

/** Whether a document has only operations and fragments. The server's grammar has no definitions of types. */
export function isExecutable(text) {
  const executable = [Kind.OPERATION_DEFINITION, Kind.FRAGMENT_DEFINITION];
  return parse(text).definitions.every((definition) => executable.includes(definition.kind));
}
