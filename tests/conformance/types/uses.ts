// A program that uses the generated types. The compiler checks its assumptions.

import type { OrderDetailQuery, OrdersQuery, OrdersQueryVariables, StockQuery } from "./queries.js";
import type { Order, OrderSortKey } from "./schema.js";

export const sortKey: OrderSortKey = "ORDER_DATE";
export const variables: OrdersQueryVariables = { first: 10, sortKey, search: "statusId:ORDER_HELD" };

/** Ids and flags are never null; names and totals may be; decimals and times are strings. */
export function describe(order: Order): [string, string | null | undefined, number] {
  return [order.orderId, order.grandTotal ?? order.orderName, order.orderItemCount];
}

export function next({ orders }: OrdersQuery): string | null {
  const dates: (string | null | undefined)[] = orders.edges.map((edge) => edge.node.orderDate);
  return orders.pageInfo.hasNextPage && dates.length > 0 ? (orders.pageInfo.endCursor ?? null) : null;
}

/** Conditionally included fields may be missing. */
export function quantities({ order }: OrderDetailQuery): (string | null | undefined)[] {
  const groups = order?.shipGroups.edges ?? [];
  return groups.flatMap((group) => group.node.orderItems?.edges.map((item) => item.node.quantity) ?? []);
}

export const stock = ({ inventoryLevels }: StockQuery): string[] =>
  inventoryLevels.edges.map(({ node }) => `${node.productId} at ${node.facilityId}`);
