// urql walks through all orders, once with its normalised cache, which makes one list of the pages, and once without.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, fetchExchange } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { relayPagination } from "@urql/exchange-graphcache/extras";

import { authorizedFetch, endpoint } from "../server.js";
import { assertWalked, DIRECTIONS, ORDERS, plainWalk } from "./walk.js";

for (const [direction, way] of Object.entries(DIRECTIONS)) {
  test(`urql with a normalised cache, ${direction}`, async () => {
    const cache = cacheExchange({
      keys: { Order: (order) => order.orderId, ...keyless("OrderConnection", "OrderEdge", "PageInfo") },
      resolvers: { Query: { orders: relayPagination() } },
    });
    const pages = await walk([cache, fetchExchange], way);
    assertWalked(pages.at(-1), pages.length, await plainWalk());
  });

  test(`urql without a cache, ${direction}`, async () => {
    const pages = await walk([fetchExchange], way);
    if (direction === "backward") pages.reverse();
    const seen = pages.flatMap((page) => page.edges.map((edge) => edge.node.orderId));
    assert.deepEqual(seen, await plainWalk());
  });
}

/** The connection as the client has it after each page. */
async function walk(exchanges, { first, next, hasMore }) {
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

/** Objects that are part of what they are found in. */
function keyless(...types) {
  return Object.fromEntries(types.map((type) => [type, () => null]));
}
