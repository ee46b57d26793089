// Pagination through all orders, and the expected result.

import assert from "node:assert/strict";

import { query } from "../server.js";

/** The page size: small, so that there are many pages. */
export const PAGE_SIZE = 7;

/** The ids of all orders in order, read page by page without a client. */
export async function allOrderIds() {
  const seen = [];
  let cursor = null;
  do {
    const page = "orders(first: 10, after: $cursor) { edges { node { orderId } } pageInfo { hasNextPage endCursor } }";
    const { orders } = await query(`query ($cursor: String) { ${page} }`, { cursor });
    seen.push(...orders.edges.map((edge) => edge.node.orderId));
    cursor = orders.pageInfo.hasNextPage ? orders.pageInfo.endCursor : null;
  } while (cursor);
  return seen;
}

/** Throws unless the client has every order exactly once and in order, after the expected number of pages. */
export function assertComplete(connection, pages, expected) {
  assert.deepEqual(
    connection.edges.map((edge) => edge.node.orderId),
    expected,
  );
  assert.equal(new Set(expected).size, expected.length);
  assert.equal(pages, Math.ceil(expected.length / PAGE_SIZE));
  assert(pages > 3);
  const { hasNextPage, hasPreviousPage } = connection.pageInfo;
  assert.deepEqual({ hasNextPage, hasPreviousPage }, { hasNextPage: false, hasPreviousPage: false });
}

/** For each direction: the variables of the first and of the next page, and whether there is a next page. */
export const DIRECTIONS = {
  forward: {
    first: { first: PAGE_SIZE },
    next: ({ endCursor }) => ({ first: PAGE_SIZE, after: endCursor }),
    hasMore: ({ hasNextPage }) => hasNextPage,
  },
  backward: {
    first: { last: PAGE_SIZE },
    next: ({ startCursor }) => ({ last: PAGE_SIZE, before: startCursor }),
    hasMore: ({ hasPreviousPage }) => hasPreviousPage,
  },
};

/** The query of Apollo Client and urql. Relay's is in `relay/Orders.js`. */
export const ORDERS = `
  query Orders($first: Int, $after: String, $last: Int, $before: String) {
    orders(first: $first, after: $after, last: $last, before: $before) {
      edges { cursor node { orderId statusId orderDate } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`;
