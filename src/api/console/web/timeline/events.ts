// The events in the life of an order.

import type { Order, Text } from "./pages";

export type Kind = "order" | "item" | "facility" | "shipment" | "payment" | "note" | "return";

export interface Event {
  /** An ISO-8601 time; null for what has none, which comes last. */
  at: Text;
  kind: Kind;
  title: string;
  detail: string;
}

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
  for (const { statusId, statusDatetime: at, orderItemSeqId: item, changeReason } of order.statuses) {
    const title = item ? `Item ${item} ${named(statusId, "ITEM_")}` : `Order ${named(statusId, "ORDER_")}`;
    found.push({ at, kind: item ? "item" : "order", title, detail: joined(changeReason) });
  }
  for (const change of order.facilityChangeHistory) {
    const what = change.orderItemSeqId ? `Item ${change.orderItemSeqId}` : `Ship group ${change.shipGroupSeqId}`;
    const way = change.fromFacilityId ? `moved from ${change.fromFacilityId} to` : "allocated to";
    const title = `${what} ${way} ${change.facilityId ?? "no facility"}`;
    found.push({ at: change.changeDatetime, kind: "facility", title, detail: named(change.changeReasonEnumId) });
  }
  for (const shipment of order.shipments) {
    const id = shipment.shipmentId;
    const add = (at: Text, title: string, detail = "") => found.push({ at, kind: "shipment", title, detail });
    if (shipment.createdDate) add(shipment.createdDate, `Shipment ${id} created`);
    for (const { statusId, statusDate } of shipment.statuses) {
      add(statusDate, `Shipment ${id} ${named(statusId, "SHIPMENT_", "PURCH_SHIP_")}`);
    }
    for (const box of shipment.packages) add(box.dateCreated, `Box ${box.shipmentPackageSeqId} of shipment ${id} packed`);
    for (const segment of shipment.routeSegments) {
      const { actualStartDate: at, carrierPartyId, trackingIdNumber } = segment;
      if (at) add(at, `Shipment ${id} handed over`, joined(carrierPartyId, trackingIdNumber));
    }
  }
  for (const payment of order.paymentPreferences) {
    const title = `Payment ${named(payment.statusId, "PAYMENT_")}`;
    const detail = joined(named(payment.paymentMethodTypeId, "EXT_"), payment.maxAmount);
    found.push({ at: payment.createdDate, kind: "payment", title, detail });
  }
  for (const { noteDateTime, noteInfo } of order.notes) {
    found.push({ at: noteDateTime, kind: "note", title: "Note", detail: noteInfo ?? "" });
  }
  for (const item of order.returnItems) {
    const title = `Return ${item.returnId} ${named(item.statusId, "RETURN_")}`;
    const detail = joined(`${Number(item.returnQuantity)} × ${item.productId}`, named(item.returnReasonId, "RTN_"));
    found.push({ at: item.return?.entryDate ?? null, kind: "return", title, detail });
  }
  return found.sort((one, other) => (one.at ?? "9999").localeCompare(other.at ?? "9999"));
}

function total({ grandTotal, currencyUomId }: Order): string {
  return grandTotal ? `${grandTotal} ${currencyUomId ?? ""}`.trim() : "";
}
