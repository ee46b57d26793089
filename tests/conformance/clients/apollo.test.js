// Apollo Client pages through all orders with `fetchMore`. Its cache merges the pages into one list.

import { test } from "node:test";

import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { relayStylePagination } from "@apollo/client/utilities";
import { filter, firstValueFrom } from "rxjs";

import { authorizedFetch, endpoint } from "../server.js";
import { allOrderIds, assertComplete, DIRECTIONS, ORDERS } from "./pagination.js";

for (const [direction, { first, next, hasMore }] of Object.entries(DIRECTIONS)) {
  test(`Apollo Client, ${direction}`, async () => {
    const cache = new InMemoryCache({
      typePolicies: {
        Query: { fields: { orders: relayStylePagination(["query", "sortKey", "reverse"]) } },
        Order: { keyFields: ["orderId"] },
      },
    });
    const client = new ApolloClient({ cache, link: new HttpLink({ uri: endpoint, fetch: authorizedFetch }) });
    const watched = client.watchQuery({ query: gql(ORDERS), variables: first });
    const shown = (isAwaited) => firstValueFrom(watched.pipe(filter(({ data }) => data && isAwaited(data.orders))));
    // Subscribes all the time, like a view.
    const view = watched.subscribe(() => {});
    let { pageInfo } = (await shown(() => true)).data.orders;
    let pages = 1;
    while (hasMore(pageInfo)) {
      const page = await watched.fetchMore({ variables: next(pageInfo) });
      ({ pageInfo } = page.data.orders);
      pages += 1;
    }
    const { data } = await shown((orders) => !hasMore(orders.pageInfo));
    assertComplete(data.orders, pages, await allOrderIds());
    view.unsubscribe();
    client.stop();
  });
}
