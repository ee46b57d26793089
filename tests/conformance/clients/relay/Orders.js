// The documents for Relay's compiler, which reads only the tags. This file is never executed.

import { graphql } from "relay-runtime";

graphql`
  query OrdersQuery($first: Int, $after: String, $last: Int, $before: String) {
    ...Orders_list @arguments(first: $first, after: $after, last: $last, before: $before)
  }
`;

graphql`
  fragment Orders_list on Query
  @refetchable(queryName: "OrdersPaginationQuery")
  @argumentDefinitions(
    first: { type: "Int" }
    after: { type: "String" }
    last: { type: "Int" }
    before: { type: "String" }
  ) {
    orders(first: $first, after: $after, last: $last, before: $before) @connection(key: "Orders_list_orders") {
      edges {
        node {
          orderId
          statusId
          orderDate
        }
      }
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
    }
  }
`;
