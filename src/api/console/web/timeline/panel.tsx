// The panel that draws the life of an order.

import { useGraphiQL, type GraphiQLPlugin } from "@graphiql/react";
import { useState, type SyntheticEvent } from "react";

import { note } from "../price/history";
import { run } from "../server";
import { session } from "../session";
import { useStore } from "../store";
import { events, QUERY, type Order } from "./events";

/** The ids of orders in the last response, to choose from. */
function orderIds(response: string): string[] {
  const ids = [...response.matchAll(/"orderId": "([^"]+)"/g)].map(([, id = ""]) => id);
  return [...new Set(ids)].slice(0, 100);
}

function time(at: string): string {
  return at.replace("T", " ").replace(/(\.\d+)?Z$/, "");
}

function Timeline() {
  const editor = useGraphiQL((state) => state.responseEditor);
  const user = useStore(session);
  const ids = orderIds(editor?.getValue() ?? "");
  const [orderId, setOrderId] = useState(ids[0] ?? "");
  const [order, setOrder] = useState<Order | null>(null);
  const [status, setStatus] = useState("");

  async function draw(event: SyntheticEvent) {
    event.preventDefault();
    setStatus("");
    try {
      const operation = { query: QUERY, variables: { orderId: orderId.trim() } };
      const response = await run(operation, 30);
      note({ ...operation, operationName: "OrderTimeline" }, response);
      const found = (response.data as { order: Order | null } | null)?.order ?? null;
      setOrder(found);
      const price = response.extensions?.cost?.requestedQueryCost;
      setStatus(found ? `One request, ${price} credits. Times are UTC.` : (response.errors?.[0]?.message ?? "There is no such order."));
    } catch (failure) {
      setStatus(failure instanceof Error ? failure.message : String(failure));
    }
  }

  return (
    <div className="oq-panel">
      <h2>Order timeline</h2>
      <form className="oq-buttons" onSubmit={draw}>
        <label>
          Order{" "}
          <input value={orderId} onChange={(event) => setOrderId(event.target.value)} list="order-ids" required size={14} spellCheck={false} />
        </label>
        <datalist id="order-ids">
          {ids.map((id) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <button type="submit" className="oq-primary" disabled={!user}>
          Draw
        </button>
      </form>
      {!user && <p>Sign in to see the life of an order.</p>}
      <p role="status">{status}</p>
      {order && (
        <>
          <h3>
            {order.orderId} <span className="oq-note">{order.statusId}</span>
          </h3>
          <ol className="oq-timeline" aria-label={`The life of order ${order.orderId}`}>
            {events(order).map((event, index) => (
              <li key={index} className={`oq-${event.kind}`}>
                {event.at ? <time dateTime={event.at}>{time(event.at)}</time> : <span className="oq-note">no date</span>}
                <strong>{event.title}</strong>
                {event.detail && <span>{event.detail}</span>}
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}

function TimelineIcon() {
  return (
    <svg viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.3" aria-hidden="true">
      <path d="M4 1.5v13" />
      <circle cx="4" cy="4" r="1.5" fill="currentColor" />
      <circle cx="4" cy="11" r="1.5" fill="currentColor" />
      <path d="M8 4h6.5M8 11h6.5" />
    </svg>
  );
}

export const TIMELINE: GraphiQLPlugin = { title: "Order timeline", icon: TimelineIcon, content: Timeline };
