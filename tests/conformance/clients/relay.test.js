// Relay's compiler takes the schema and a fragment with pages, and Relay's runtime walks through all orders with what it
// made: each page is asked for as `usePaginationFragment` asks for it, and Relay's store makes one list of the pages.

import { test } from "node:test";

import relay from "relay-runtime";

import { authorizedFetch, endpoint, publishedSchema } from "../server.js";
import { compile } from "./relay/compile.js";
import { assertWalked, DIRECTIONS, PAGE_SIZE, plainWalk } from "./walk.js";

const [query, fragment] = compile(await publishedSchema(), ["OrdersQuery", "Orders_list"]);
const { paginationRequest, paginationMetadata } = relay.getPaginationMetadata(fragment, "the test");

for (const [direction, { first, hasMore }] of Object.entries(DIRECTIONS)) {
  test(`Relay, ${direction}`, async () => {
    const environment = new relay.Environment({
      network: relay.Network.create(ask),
      store: new relay.Store(new relay.RecordSource()),
    });
    const operation = relay.createOperationDescriptor(relay.getRequest(query), first);
    const retained = environment.retain(operation);
    await relay.fetchQuery(environment, query, first).toPromise();
    let pages = 1;
    for (let orders = read(environment, operation); hasMore(orders.pageInfo); orders = read(environment, operation)) {
      const { startCursor, endCursor } = orders.pageInfo;
      const cursor = direction === "forward" ? endCursor : startCursor;
      const variables = relay.getPaginationVariables(direction, PAGE_SIZE, cursor, first, {}, paginationMetadata);
      await relay.fetchQuery(environment, paginationRequest, variables).toPromise();
      pages += 1;
    }
    assertWalked(read(environment, operation), pages, await plainWalk());
    retained.dispose();
  });
}

/** The network layer: a request's text, which the compiler wrote, and its variables. */
async function ask({ text }, variables) {
  const response = await authorizedFetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: text, variables }),
  });
  return response.json();
}

/** The fragment's connection as it is in the store: all pages that were fetched. */
function read(environment, operation) {
  const { data } = environment.lookup(operation.fragment);
  return environment.lookup(relay.getSingularSelector(fragment, data)).data.orders;
}
