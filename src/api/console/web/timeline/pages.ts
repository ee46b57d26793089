// The queries for an order's life, page by page: a small first one, and further pages of the lists that have more.
//
// The price of a query is that of its full pages, whatever comes back. Small ones keep an order with a short life cheap.

export type Text = string | null;

interface Shipment {
  shipmentId: string;
  createdDate: Text;
  statuses: { statusId: string; statusDate: Text }[];
  packages: { shipmentPackageSeqId: string; dateCreated: Text }[];
  routeSegments: { carrierPartyId: Text; trackingIdNumber: Text; actualStartDate: Text }[];
}

/** An order with the rows of all pages that were read. */
export interface Order {
  orderId: string;
  orderName: Text;
  statusId: Text;
  orderDate: Text;
  grandTotal: Text;
  currencyUomId: Text;
  statuses: { statusId: Text; statusDatetime: Text; orderItemSeqId: Text; changeReason: Text }[];
  facilityChangeHistory: {
    changeDatetime: Text;
    shipGroupSeqId: Text;
    fromFacilityId: Text;
    facilityId: Text;
    changeReasonEnumId: Text;
    orderItemSeqId: Text;
  }[];
  shipments: Shipment[];
  paymentPreferences: { paymentMethodTypeId: Text; statusId: Text; createdDate: Text; maxAmount: Text }[];
  notes: { noteDateTime: Text; noteInfo: Text }[];
  returnItems: {
    returnId: string;
    returnQuantity: Text;
    productId: Text;
    statusId: Text;
    returnReasonId: Text;
    return: { entryDate: Text } | null;
  }[];
}

/** A list of a type: its rows in a page, and what is selected from each. */
interface List {
  name: string;
  rows: number;
  fields: string;
}

const SHIPMENT: List[] = [
  { name: "statuses", rows: 3, fields: "statusId statusDate" },
  { name: "packages", rows: 1, fields: "shipmentPackageSeqId dateCreated" },
  { name: "routeSegments", rows: 1, fields: "carrierPartyId trackingIdNumber actualStartDate" },
];

const ORDER: List[] = [
  { name: "statuses", rows: 5, fields: "statusId statusDatetime orderItemSeqId changeReason" },
  {
    name: "facilityChangeHistory",
    rows: 2,
    fields: "changeDatetime shipGroupSeqId fromFacilityId facilityId changeReasonEnumId orderItemSeqId",
  },
  { name: "shipments", rows: 1, fields: `shipmentId createdDate ${SHIPMENT.map((list) => page(list)).join(" ")}` },
  { name: "paymentPreferences", rows: 1, fields: "paymentMethodTypeId statusId createdDate maxAmount" },
  { name: "notes", rows: 1, fields: "noteDateTime noteInfo" },
  { name: "returnItems", rows: 1, fields: "returnId returnQuantity productId statusId returnReasonId return { entryDate }" },
];

/** A page of a list, the first one or that behind a cursor. Later pages are larger: such an order has a long life. */
function page({ name, rows, fields }: List, after?: string): string {
  const size = after === undefined ? `first: ${rows}` : `first: ${rows * 2}, after: ${JSON.stringify(after)}`;
  return `${name}(${size}) { edges { node { ${fields} } } pageInfo { hasNextPage endCursor } }`;
}

/** The first query. */
export const FIRST_QUERY = `query OrderTimeline($orderId: ID!) {
  order(orderId: $orderId) {
    orderId orderName statusId orderDate grandTotal currencyUomId
    ${ORDER.map((list) => page(list)).join("\n    ")}
  }
}
`;

/** A page that is still to be read, of the order or of one of its shipments. */
interface Next {
  list: List;
  after: string;
  shipmentId?: string | undefined;
}

/** As many lists go on in one query, so that none is expensive. */
const LISTS = 4;

/** The query for the next pages. */
function nextQuery(orderId: string, next: Next[]): string {
  const fields = next.map(({ list, after, shipmentId }, index) =>
    shipmentId === undefined
      ? `n${index}: order(orderId: ${JSON.stringify(orderId)}) { ${page(list, after)} }`
      : `n${index}: shipment(shipmentId: ${JSON.stringify(shipmentId)}) { ${page(list, after)} }`,
  );
  return `query OrderTimeline {\n  ${fields.join("\n  ")}\n}\n`;
}

/** An object of a response, whose lists are connections. */
type Found = Record<string, unknown>;

interface Connection {
  edges: { node: Found }[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

/** Reads the pages of an order's life, one query after the other. */
export class Pages {
  private waiting: Next[] = [];
  private found: Order | null = null;

  constructor(private readonly orderId: string) {}

  get order(): Order | null {
    return this.found && { ...this.found };
  }

  /** Whether something is left to read. */
  get hasNext(): boolean {
    return this.waiting.length > 0;
  }

  /** The next query. */
  query(): { query: string; variables?: Record<string, unknown> } {
    if (!this.found) return { query: FIRST_QUERY, variables: { orderId: this.orderId } };
    return { query: nextQuery(this.orderId, this.waiting.slice(0, LISTS)) };
  }

  /** Takes what the query has found. */
  add(data: unknown): void {
    if (!this.found) {
      const order = (data as { order: Found | null }).order;
      this.found = order && (this.flat(order, ORDER) as unknown as Order);
      return;
    }
    const read = this.waiting.splice(0, LISTS);
    read.forEach(({ list, shipmentId }, index) => {
      const parent = (data as Record<string, Found | null>)[`n${index}`];
      const owner = shipmentId === undefined ? this.found : this.found?.shipments.find((one) => one.shipmentId === shipmentId);
      const rows = owner && ((owner as unknown as Found)[list.name] as Found[]);
      if (parent && rows) rows.push(...this.rows(parent[list.name] as Connection, list, shipmentId));
    });
  }

  /** An object with lists in the place of its connections. */
  private flat(object: Found, lists: List[], shipmentId?: string): Found {
    const rows = lists.map((list) => [list.name, this.rows(object[list.name] as Connection, list, shipmentId)]);
    return { ...object, ...Object.fromEntries(rows) };
  }

  /** The rows of a page. Notes where the list goes on. */
  private rows({ edges, pageInfo }: Connection, list: List, shipmentId?: string): Found[] {
    if (pageInfo.hasNextPage) this.waiting.push({ list, after: pageInfo.endCursor, shipmentId });
    const nodes = edges.map(({ node }) => node);
    return list.name === "shipments" ? nodes.map((node) => this.flat(node, SHIPMENT, String(node.shipmentId))) : nodes;
  }
}
