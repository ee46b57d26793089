// What the editor shows at first.

import { getNamedType, isLeafType, isObjectType, parse, validate, type GraphQLSchema } from "graphql";

const COMMENT = "# Its price is shown while you type.\n# Ctrl-Enter runs it.\n";

const ORDERS = `{
  orders(first: 10, query: "statusId:ORDER_APPROVED") {
    edges {
      node {
        orderId
        orderDate
        statusId
        grandTotal
        shipGroups(first: 3) {
          edges {
            node {
              shipGroupSeqId
              facilityId
            }
          }
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`;

/** Whether a query is valid: an operator may serve another schema than the built-in one. */
export function isValid(schema: GraphQLSchema, query: string): boolean {
  return validate(schema, parse(query)).length === 0;
}

/** A query that is valid for the schema. */
export function example(schema: GraphQLSchema): string {
  if (isValid(schema, ORDERS)) return COMMENT + ORDERS;
  for (const root of Object.values(schema.getQueryType()?.getFields() ?? {})) {
    const inner = (of: typeof root, name: string) => {
      const type = getNamedType(of.type);
      return isObjectType(type) ? type.getFields()[name] : undefined;
    };
    const edges = inner(root, "edges");
    const node = edges && getNamedType(inner(edges, "node")?.type);
    if (!isObjectType(node)) continue;
    const leaves = Object.values(node.getFields()).filter((field) => isLeafType(getNamedType(field.type)));
    const lines = leaves.slice(0, 6).map((field) => `        ${field.name}\n`);
    return `${COMMENT}{\n  ${root.name}(first: 10) {\n    edges {\n      node {\n${lines.join("")}      }\n    }\n  }\n}\n`;
  }
  return COMMENT;
}
