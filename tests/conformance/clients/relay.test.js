// Relay's compiler compiles the schema and a fragment with pagination. Relay's runtime pages through all orders with the
// artifacts, like `usePaginationFragment`, and its store merges the pages into one list.

import { test } from "node:test";

import relay from "relay-runtime";

import { authorizedFetch, endpoint, publishedSchema } from "../server.js";
import { compile } from "./relay/compile.js";
import { allOrderIds, assertComplete, DIRECTIONS, PAGE_SIZE } from "./pagination.js";

const [query, fragment] = compile(await publishedSchema(), ["OrdersQuery", "Orders_list"]);
const { paginationRequest, paginationMetadata } = relay.getPaginationMetadata(fragment, "the test");

for (const [direction, { first, hasMore }] of Object.entries(DIRECTIONS)) {
  test(`Relay, ${direction}`, async () => {
    const environment = new relay.Environment({
      network: relay.Network.create(send),
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
    assertComplete(read(environment, operation), pages, await allOrderIds());
    retained.dispose();
  });
}

/** The network layer: sends the compiled text of a request and its variables. */
async function send({ text }, variables) {
  const response = await authorizedFetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: text, variables }),
  });
  return response.json();
}

/** The fragment's connection in the store, with all fetched pages. */
function read(environment, operation) {
  const { data } = environment.lookup(operation.fragment);
  return environment.lookup(relay.getSingularSelector(fragment, data)).data.orders;
}
