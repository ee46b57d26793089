// The panel with the queries that were run and those that were marked, to put them into the editor again.

import type { GraphiQLPlugin } from "@graphiql/react";

import { useEditors } from "../editors";
import { icon } from "../icon";
import { count, number } from "../numbers";
import type { Operation } from "../server";
import { session } from "../session";
import { useStore } from "../store";
import { shortened } from "../texts";
import { favourites, isFavourite, toggleFavourite } from "./favourites";
import { paid, titleOf, type Paid } from "./history";

/** As many characters of a query without a name are shown. */
const LENGTH = 80;

function Query({ operation, isMarked, facts }: { operation: Operation; isMarked: boolean; facts?: string }) {
  const edit = useEditors();
  const title = titleOf(operation);
  return (
    <li className="oq-query">
      <button
        type="button"
        className="oq-star"
        aria-pressed={isMarked}
        aria-label={`Favourite: ${title}`}
        title={isMarked ? "Remove from the favourites" : "Add to the favourites"}
        onClick={() => toggleFavourite(operation)}
      >
        {isMarked ? "★" : "☆"}
      </button>
      <button type="button" className="oq-link" onClick={() => edit(operation)} title={`Put it into the editor: ${title}`}>
        {shortened(title, LENGTH)}
      </button>
      {facts && <span className="oq-note">{facts}</span>}
    </li>
  );
}

function factsOf({ at, error, requested, actual }: Paid): string {
  const time = new Date(at).toLocaleTimeString("en");
  return `${time}, ${error ?? `${count(requested, "credit")}, worth ${number(actual)}`}`;
}

function History() {
  const entries = useStore(paid);
  const marked = useStore(favourites);
  const user = useStore(session)?.user;
  return (
    <div className="oq-panel">
      <h2>History</h2>
      <section aria-labelledby="favourites">
        <h3 id="favourites">Favourites</h3>
        {marked.length === 0 && <p className="oq-note">The star of a query keeps it here, also when the tab is closed.</p>}
        <ul className="oq-tree">
          {marked.map((operation, index) => (
            <Query key={index} operation={operation} isMarked />
          ))}
        </ul>
        {marked.length > 0 && <p className="oq-note">This browser keeps them{user && ` for ${user}`}, also after signing out.</p>}
      </section>
      <section aria-labelledby="runs">
        <h3 id="runs">In this tab</h3>
        {entries.length === 0 && <p className="oq-note">Queries that you run are listed here until the tab is closed or you sign out.</p>}
        <ul className="oq-tree">
          {entries.map((entry) => (
            <Query
              key={entry.at}
              operation={entry.operation}
              isMarked={isFavourite(marked, entry.operation)}
              facts={factsOf(entry)}
            />
          ))}
        </ul>
        {entries.length > 0 && (
          <button type="button" onClick={() => paid.set([])}>
            Clear
          </button>
        )}
      </section>
    </div>
  );
}

const HistoryIcon = icon(<path d="M2 3v3.5h3.5M2.3 6.3A6 6 0 1 1 2 9M8 4.5V8l2.5 1.5" />);

export const HISTORY: GraphiQLPlugin = { title: "History", icon: HistoryIcon, content: History };
