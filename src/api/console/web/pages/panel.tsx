// The panel that pages through a connection of the query, forward and backward, and exports what was read.

import { useGraphiQL, type GraphiQLPlugin } from "@graphiql/react";
import { useEffect, useMemo, useState } from "react";

import { count, number } from "../numbers";
import { useOperation } from "../operation";
import { note } from "../history/history";
import { icon } from "../icon";
import { messageOf, run, WAITING, type Operation } from "../server";
import { session } from "../session";
import { save } from "../share/files";
import { useStore } from "../store";
import { connections, pageOf, pageOperation, pageSize, type Connection, type PageInfo, type Position } from "./connections";
import { cell, columns, csv, flat, lines, type Node } from "./table";

interface Page {
  nodes: Node[];
  pageInfo: PageInfo;
}

/** The pages that were read, in the order of the connection, and the one that is shown. */
interface Pages {
  pages: Page[];
  shown: number;
  credits: number;
}

const NONE: Pages = { pages: [], shown: 0, credits: 0 };

const SIZES = [5, 10, 20, 50, 100];

function Table({ page, name }: { page: Page; name: string }) {
  const names = columns(page.nodes);
  return (
    <div className="oq-scroll" tabIndex={0} role="region" aria-label={`A page of ${name}`}>
      <table>
        <thead>
          <tr>
            {names.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {page.nodes.map((node, index) => {
            const cells = flat(node);
            return (
              <tr key={index}>
                {names.map((column) => (
                  <td key={column}>{cell(cells.get(column))}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Reader({ operation, connection }: { operation: Operation; connection: Connection }) {
  const [size, setSize] = useState(pageSize(connection) ?? 10);
  const [{ pages, shown, credits }, setPages] = useState<Pages>(NONE);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const page = pages[shown];
  const nodes = pages.flatMap((one) => one.nodes);
  const name = connection.name.split(".").at(-1) ?? "rows";

  async function read(position: Position, place: (page: Page) => Omit<Pages, "credits">) {
    const reading = pageOperation(operation, connection, position, size);
    if (!reading) {
      setError(`Select something from the nodes of ${connection.name}.`);
      return;
    }
    setBusy(true);
    setError("");
    try {
      const response = await run(reading, WAITING);
      note(reading, response);
      const read = pageOf(response.data, connection);
      if (read) setPages({ ...place(read), credits: credits + (response.extensions?.cost?.requestedQueryCost ?? 0) });
      else setError(response.errors?.[0]?.message ?? "Nothing was found.");
    } catch (failure) {
      setError(messageOf(failure));
    }
    setBusy(false);
  }

  const show = (index: number) => setPages({ pages, shown: index, credits });
  const alone = (only: Page) => ({ pages: [only], shown: 0 });
  const next = () =>
    shown + 1 < pages.length
      ? show(shown + 1)
      : read({ end: "first", cursor: page?.pageInfo.endCursor ?? null }, (read) => ({ pages: [...pages, read], shown: shown + 1 }));
  const previous = () =>
    shown > 0
      ? show(shown - 1)
      : read({ end: "last", cursor: page?.pageInfo.startCursor ?? null }, (read) => ({ pages: [read, ...pages], shown: 0 }));
  const hasNext = page !== undefined && (shown + 1 < pages.length || page.pageInfo.hasNextPage);
  const hasPrevious = page !== undefined && (shown > 0 || page.pageInfo.hasPreviousPage);

  return (
    <>
      <div className="oq-buttons">
        <label>
          Rows a page{" "}
          <select value={size} onChange={(event) => setSize(Number(event.target.value))}>
            {[...new Set([...SIZES, size])]
              .sort((one, other) => one - other)
              .map((rows) => (
                <option key={rows}>{rows}</option>
              ))}
          </select>
        </label>
        <button type="button" disabled={busy} onClick={() => read({ end: "first" }, alone)}>
          First
        </button>
        <button type="button" disabled={busy || !hasPrevious} onClick={previous}>
          Previous
        </button>
        <button type="button" disabled={busy || !hasNext} onClick={next}>
          Next
        </button>
        <button type="button" disabled={busy} onClick={() => read({ end: "last" }, alone)}>
          Last
        </button>
      </div>
      <p role="status">
        {page && `${count(page.nodes.length, "row")} here, ${number(nodes.length)} read on ${count(pages.length, "page")}, for ${count(credits, "credit")}.`}
        {page && page.nodes.length < size && hasNext && " The search ended early; go on."}
      </p>
      <p role="alert" className="oq-error">
        {error}
      </p>
      {!page && !error && <p className="oq-note">The rows of the page that you read are shown here.</p>}
      {page && (
        <>
          <div className="oq-buttons">
            <button type="button" onClick={() => save(`${name}.csv`, "text/csv", csv(nodes))}>
              Export CSV
            </button>
            <button type="button" onClick={() => save(`${name}.ndjson`, "application/x-ndjson", lines(nodes))}>
              Export NDJSON
            </button>
          </div>
          <Table page={page} name={name} />
        </>
      )}
    </>
  );
}

function PagesPanel() {
  const operation = useOperation();
  const schema = useGraphiQL((state) => state.schema);
  const user = useStore(session);
  const found = useMemo(() => (schema && operation ? connections(schema, operation) : []), [schema, operation]);
  const [name, setName] = useState("");
  const connection = found.find((one) => one.name === name) ?? found[0];
  useEffect(() => {
    if (connection) setName(connection.name);
  }, [connection]);
  return (
    <div className="oq-panel">
      <h2>Pages</h2>
      {!user && <p>Sign in to read the pages of a connection as a table, one after the other, and to save them.</p>}
      {!connection && <p>The query has no connection. Write one such as orders(first: 10), and select from its nodes.</p>}
      {user && operation && connection && (
        <>
          <label>
            Connection{" "}
            <select value={connection.name} onChange={(event) => setName(event.target.value)}>
              {found.map((one) => (
                <option key={one.name}>{one.name}</option>
              ))}
            </select>
          </label>
          <Reader
            key={`${operation.query}\n${JSON.stringify(operation.variables)}\n${connection.name}`}
            operation={operation}
            connection={connection}
          />
        </>
      )}
    </div>
  );
}

const PagesIcon = icon(
  <>
    <rect x="1.5" y="2.5" width="13" height="11" rx="1.5" />
    <path d="M1.5 6h13M6 6v7.5M1.5 9.7h13" />
  </>,
);

export const PAGES: GraphiQLPlugin = { title: "Pages", icon: PagesIcon, content: PagesPanel };
