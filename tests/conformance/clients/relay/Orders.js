// What Relay's compiler makes artifacts of. It is never run: the tags are all that the compiler reads.

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
