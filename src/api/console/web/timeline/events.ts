// The query for an order's life, and the events in its response.

/** One request. Its price is that of a full page, so pages are as large as an order needs. */
export const QUERY = `query OrderTimeline($orderId: ID!) {
  order(orderId: $orderId) {
    orderId
    orderName
    statusId
    orderDate
    entryDate
    grandTotal
    currencyUomId
    statuses(first: 25) {
      edges { node { statusId statusDatetime orderItemSeqId changeReason } }
    }
    shipGroups(first: 3) {
      edges {
        node {
          shipGroupSeqId
          facilityId
          facilityChangeHistory(first: 8) {
            edges { node { changeDatetime fromFacilityId facilityId changeReasonEnumId orderItemSeqId } }
          }
        }
      }
    }
    shipments(first: 4) {
      edges {
        node {
          shipmentId
          createdDate
          statuses(first: 8) {
            edges { node { statusId statusDate } }
          }
          packages(first: 2) {
            edges { node { shipmentPackageSeqId dateCreated } }
          }
          routeSegments(first: 2) {
            edges { node { carrierPartyId trackingIdNumber actualStartDate } }
          }
        }
      }
    }
    paymentPreferences(first: 3) {
      edges { node { paymentMethodTypeId statusId createdDate maxAmount } }
    }
    notes(first: 5) {
      edges { node { noteDateTime noteInfo } }
    }
    returnItems(first: 5) {
      edges { node { returnId returnQuantity productId statusId returnReasonId return { entryDate } } }
    }
  }
}
`;

type Text = string | null;

interface List<T> {
  edges: { node: T }[];
}

interface Order {
  orderId: string;
  orderName: Text;
  statusId: Text;
  orderDate: Text;
  entryDate: Text;
  grandTotal: Text;
  currencyUomId: Text;
  statuses: List<{ statusId: Text; statusDatetime: Text; orderItemSeqId: Text; changeReason: Text }>;
  shipGroups: List<{
    shipGroupSeqId: string;
    facilityId: Text;
    facilityChangeHistory: List<{
      changeDatetime: Text;
      fromFacilityId: Text;
      facilityId: Text;
      changeReasonEnumId: Text;
      orderItemSeqId: Text;
    }>;
  }>;
  shipments: List<{
    shipmentId: string;
    createdDate: Text;
    statuses: List<{ statusId: string; statusDate: Text }>;
    packages: List<{ shipmentPackageSeqId: string; dateCreated: Text }>;
    routeSegments: List<{ carrierPartyId: Text; trackingIdNumber: Text; actualStartDate: Text }>;
  }>;
  paymentPreferences: List<{ paymentMethodTypeId: Text; statusId: Text; createdDate: Text; maxAmount: Text }>;
  notes: List<{ noteDateTime: Text; noteInfo: Text }>;
  returnItems: List<{
    returnId: string;
    returnQuantity: Text;
    productId: Text;
    statusId: Text;
    returnReasonId: Text;
    return: { entryDate: Text } | null;
  }>;
}

export type { Order };

export type Kind = "order" | "item" | "facility" | "shipment" | "payment" | "note" | "return";

export interface Event {
  /** An ISO-8601 time; null for what has none, which comes last. */
  at: Text;
  kind: Kind;
  title: string;
  detail: string;
}

const nodes = <T>(list: List<T>): T[] => list.edges.map(({ node }) => node);
const joined = (...parts: (Text | undefined)[]) => parts.filter(Boolean).join(", ");

/** `ORDER_APPROVED` as "approved", without the words that it begins with. */
function named(statusId: Text, ...prefixes: string[]): string {
  const prefix = prefixes.find((one) => statusId?.startsWith(one)) ?? "";
  return (statusId ?? "").slice(prefix.length).replaceAll("_", " ").toLowerCase();
}

/** The events of an order, the first one first. */
export function events(order: Order): Event[] {
  const found: Event[] = [
    { at: order.orderDate, kind: "order", title: "Order placed", detail: joined(order.orderName, total(order)) },
  ];
  for (const { statusId, statusDatetime: at, orderItemSeqId: item, changeReason } of nodes(order.statuses)) {
    const title = item ? `Item ${item} ${named(statusId, "ITEM_")}` : `Order ${named(statusId, "ORDER_")}`;
    found.push({ at, kind: item ? "item" : "order", title, detail: joined(changeReason) });
  }
  for (const group of nodes(order.shipGroups)) {
    for (const change of nodes(group.facilityChangeHistory)) {
      const what = change.orderItemSeqId ? `Item ${change.orderItemSeqId}` : `Ship group ${group.shipGroupSeqId}`;
      const way = change.fromFacilityId ? `moved from ${change.fromFacilityId} to` : "allocated to";
      const title = `${what} ${way} ${change.facilityId ?? "no facility"}`;
      found.push({ at: change.changeDatetime, kind: "facility", title, detail: named(change.changeReasonEnumId) });
    }
  }
  for (const shipment of nodes(order.shipments)) {
    const id = shipment.shipmentId;
    const add = (at: Text, title: string, detail = "") => found.push({ at, kind: "shipment", title, detail });
    if (shipment.createdDate) add(shipment.createdDate, `Shipment ${id} created`);
    for (const { statusId, statusDate } of nodes(shipment.statuses)) {
      add(statusDate, `Shipment ${id} ${named(statusId, "SHIPMENT_", "PURCH_SHIP_")}`);
    }
    for (const box of nodes(shipment.packages)) add(box.dateCreated, `Box ${box.shipmentPackageSeqId} of shipment ${id} packed`);
    for (const segment of nodes(shipment.routeSegments)) {
      const { actualStartDate: at, carrierPartyId, trackingIdNumber } = segment;
      if (at) add(at, `Shipment ${id} handed over`, joined(carrierPartyId, trackingIdNumber));
    }
  }
  for (const payment of nodes(order.paymentPreferences)) {
    const title = `Payment ${named(payment.statusId, "PAYMENT_")}`;
    const detail = joined(named(payment.paymentMethodTypeId, "EXT_"), payment.maxAmount);
    found.push({ at: payment.createdDate, kind: "payment", title, detail });
  }
  for (const { noteDateTime, noteInfo } of nodes(order.notes)) {
    found.push({ at: noteDateTime, kind: "note", title: "Note", detail: noteInfo ?? "" });
  }
  for (const item of nodes(order.returnItems)) {
    const title = `Return ${item.returnId} ${named(item.statusId, "RETURN_")}`;
    const detail = joined(`${Number(item.returnQuantity)} × ${item.productId}`, named(item.returnReasonId, "RTN_"));
    found.push({ at: item.return?.entryDate ?? null, kind: "return", title, detail });
  }
  return found.sort((one, other) => (one.at ?? "9999").localeCompare(other.at ?? "9999"));
}

function total({ grandTotal, currencyUomId }: Order): string {
  return grandTotal ? `${grandTotal} ${currencyUomId ?? ""}`.trim() : "";
}
