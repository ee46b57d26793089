// urql pages through all orders with its normalised cache, which merges the pages into one list, and without a cache.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, fetchExchange } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { relayPagination } from "@urql/exchange-graphcache/extras";

import { authorizedFetch, endpoint } from "../server.js";
import { allOrderIds, assertComplete, DIRECTIONS, ORDERS } from "./pagination.js";

for (const [direction, pagination] of Object.entries(DIRECTIONS)) {
  test(`urql with a normalised cache, ${direction}`, async () => {
    const cache = cacheExchange({
      keys: { Order: (order) => order.orderId, ...keyless("OrderConnection", "OrderEdge", "PageInfo") },
      resolvers: { Query: { orders: relayPagination() } },
    });
    const pages = await pageThrough([cache, fetchExchange], pagination);
    assertComplete(pages.at(-1), pages.length, await allOrderIds());
  });

  test(`urql without a cache, ${direction}`, async () => {
    const pages = await pageThrough([fetchExchange], pagination);
    if (direction === "backward") pages.reverse();
    const seen = pages.flatMap((page) => page.edges.map((edge) => edge.node.orderId));
    assert.deepEqual(seen, await allOrderIds());
  });
}

/** Pages through all orders and returns the client's connection after each page. */
async function pageThrough(exchanges, { first, next, hasMore }) {
  const client = new Client({ url: endpoint, fetch: authorizedFetch, preferGetMethod: false, exchanges });
  const pages = [];
  let variables = first;
  do {
    const { data, error } = await client.query(ORDERS, variables).toPromise();
    if (error) throw error;
    pages.push(data.orders);
    variables = hasMore(data.orders.pageInfo) ? next(data.orders.pageInfo) : null;
  } while (variables);
  return pages;
}

/** Types without a key, which are stored in their parents. */
function keyless(...types) {
  return Object.fromEntries(types.map((type) => [type, () => null]));
}
