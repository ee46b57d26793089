// The panel that draws the life of an order.

import { useGraphiQL, type GraphiQLPlugin } from "@graphiql/react";
import { useState, type SyntheticEvent } from "react";

import { note } from "../history/history";
import { icon } from "../icon";
import { count } from "../numbers";
import { messageOf, price, run, WAITING, type Operation } from "../server";
import { session } from "../session";
import { useStore } from "../store";
import { events } from "./events";
import { Pages, type Order } from "./pages";

/** As many queries are sent before somebody says that there should be more. */
const QUERIES = 8;

/** The ids of orders in the last response, to choose from. */
function orderIds(response: string): string[] {
  const ids = [...response.matchAll(/"orderId": "([^"]+)"/g)].map(([, id = ""]) => id);
  return [...new Set(ids)].slice(0, 100);
}

function time(at: string): string {
  return at.replace("T", " ").replace(/(\.\d+)?Z$/, "");
}

/** The pages that were read, and what they took. */
interface Reading {
  pages: Pages;
  requests: number;
  credits: number;
}

/** What is shown until a query has its response. One that has to wait for credits says for how long. */
async function waiting(operation: Operation): Promise<string> {
  const cost = (await price(operation)).extensions?.cost;
  const wait = cost?.gates?.bucket?.retryAfterMs;
  if (!wait) return "Reading…";
  return `Waits ${count(Math.ceil(wait / 1000), "second")} for ${count(cost.requestedQueryCost, "credit")}…`;
}

function Timeline() {
  const editor = useGraphiQL((state) => state.responseEditor);
  const user = useStore(session);
  const ids = orderIds(editor?.getValue() ?? "");
  const [orderId, setOrderId] = useState(ids[0] ?? "");
  const [order, setOrder] = useState<Order | null>(null);
  const [status, setStatus] = useState("");
  const [reading, setReading] = useState<Reading | null>(null);
  const [busy, setBusy] = useState(false);

  async function read(started: Reading) {
    const { pages } = started;
    let { requests, credits } = started;
    setBusy(true);
    setReading(started);
    try {
      do {
        const operation = { ...pages.query(), operationName: "OrderTimeline" };
        setStatus(await waiting(operation));
        const response = await run(operation, WAITING);
        note(operation, response);
        const failure = response.errors?.[0];
        if (!response.data) throw new Error(failure?.message ?? "The server returned nothing.");
        pages.add(response.data);
        requests += 1;
        credits += response.extensions?.cost?.requestedQueryCost ?? 0;
        setOrder(pages.order);
      } while (pages.hasNext && requests < started.requests + QUERIES);
      const paid = `${count(requests, "request")}, ${count(credits, "credit")}. Times are UTC.`;
      setStatus(pages.order ? `${paid}${pages.hasNext ? " There is more." : ""}` : "There is no such order.");
    } catch (failure) {
      setStatus(messageOf(failure));
    }
    setReading({ pages, requests, credits });
    setBusy(false);
  }

  function draw(event: SyntheticEvent) {
    event.preventDefault();
    setOrder(null);
    void read({ pages: new Pages(orderId.trim()), requests: 0, credits: 0 });
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
        <button type="submit" className="oq-primary" disabled={!user || busy}>
          Draw
        </button>
      </form>
      {!order && (
        <p className="oq-note">
          {!user && "Sign in first. "}The life of an order is drawn here: when it was placed, approved, allocated, packed, sent, paid and
          returned.
        </p>
      )}
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
          {reading?.pages.hasNext && (
            <button type="button" disabled={busy} onClick={() => void read(reading)}>
              Read on
            </button>
          )}
        </>
      )}
    </div>
  );
}

const TimelineIcon = icon(
  <>
    <path d="M4 1.5v13" />
    <circle cx="4" cy="4" r="1.5" fill="currentColor" />
    <circle cx="4" cy="11" r="1.5" fill="currentColor" />
    <path d="M8 4h6.5M8 11h6.5" />
  </>,
);

export const TIMELINE: GraphiQLPlugin = { title: "Timeline", icon: TimelineIcon, content: Timeline };
