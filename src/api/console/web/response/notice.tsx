// What is to be known of a response before it is read, above it: its errors, whether it is old or has too few rows, and its price.

import { pick, useGraphiQL, useGraphiQLActions } from "@graphiql/react";

import { Away } from "../away";
import { missed, waitForCredits } from "../execute";
import { count } from "../numbers";
import { useOperation } from "../operation";
import { unreachable, type EndedSearch, type GraphqlError, type Operation, type Response } from "../server";
import { useStore } from "../store";
import { advised } from "./advice";
import { useShown } from "./answered";

/** As many errors are listed; all are in the response. */
const ERRORS = 3;

const timeOf = (at: number) => new Date(at).toLocaleTimeString("en");

function Errors({ errors }: { errors: GraphqlError[] }) {
  return (
    <ul className="oq-problems">
      {errors.slice(0, ERRORS).map((error, index) => (
        <li key={index}>
          {error.locations?.[0] && <span className="oq-note">Line {error.locations[0].line}: </span>}
          {advised(error)}
        </li>
      ))}
      {errors.length > ERRORS && <li>{count(errors.length - ERRORS, "more error")} in the response</li>}
    </ul>
  );
}

/** Which lists have fewer rows than match. */
function Ended({ searches }: { searches: EndedSearch[] }) {
  return searches.map(({ path, rowsExamined }) => (
    <p key={path.join(".")} className="oq-warning">
      {path.join(".")} has not all rows: its search ended after {count(rowsExamined, "row")}. Go on with <code>after: endCursor</code>,
      or add a term that few rows match.
    </p>
  ));
}

function price({ data, errors, extensions }: Response): string {
  const { requestedQueryCost = 0, actualQueryCost = 0 } = extensions?.cost ?? {};
  const code = errors?.[0]?.extensions?.code;
  if (data && !errors) return `${count(requestedQueryCost, "credit")} paid; the rows that came back are worth ${count(actualQueryCost, "credit")}`;
  if (errors) return `${typeof code === "string" ? code : "An error"}: ${count(data ? requestedQueryCost : 0, "credit")} paid`;
  return `A report in place of the data. The price of the query is ${count(requestedQueryCost, "credit")}`;
}

const isSame = (one: Operation, other: Operation | null) =>
  one.query === other?.query && JSON.stringify(one.variables ?? {}) === JSON.stringify(other.variables ?? {});

/** Runs the query when its credits are there. */
function Wait({ error }: { error: GraphqlError }) {
  const { run } = useGraphiQLActions();
  const milliseconds = error.extensions?.retryAfterMs;
  const time = typeof milliseconds === "number" ? `, in about ${count(Math.ceil(milliseconds / 1000), "second")}` : "";
  return (
    <button
      type="button"
      className="oq-primary"
      onClick={() => {
        waitForCredits();
        void run();
      }}
    >
      Wait and run{time}
    </button>
  );
}

export function Notice() {
  const operation = useOperation();
  const shown = useShown();
  const { isFetching } = useGraphiQL(pick("isFetching"));
  // GraphiQL itself writes what is wrong with the texts of variables and headers.
  const hasResponse = useGraphiQL(({ tabs, activeTabIndex }) => Boolean(tabs[activeTabIndex]?.response));
  const reason = useStore(unreachable);
  const missedRun = useStore(missed);
  const { run } = useGraphiQLActions();
  if (reason) {
    const old = missedRun?.shown;
    const note = old ? ` The result is old, of ${timeOf(old.at)}.` : "";
    // What was only priced is not run.
    const retry = missedRun ? () => void run() : () => unreachable.set(null);
    return <Away message={reason + note} retry={retry} />;
  }
  if (!shown) {
    const unknown = hasResponse ? "No price is known of this response." : "Run the query to see its result here, and what it cost.";
    const text = isFetching ? "The query runs…" : unknown;
    return (
      <div className="oq-notice" role="status">
        {text}
      </div>
    );
  }
  const { response, at } = shown;
  const isOld = !isSame(shown.operation, operation);
  const throttled = response.errors?.find(({ extensions }) => extensions?.code === "THROTTLED");
  return (
    <div className={isOld ? "oq-notice oq-old" : "oq-notice"}>
      <div role="status">
        {isOld && <p className="oq-warning">The response to an earlier query, of {timeOf(at)}. The query has changed since.</p>}
        {response.errors && <Errors errors={response.errors} />}
        <Ended searches={response.extensions?.search ?? []} />
        {response.extensions?.warnings?.map(({ message }) => (
          <p key={message} className="oq-warning">
            {message}
          </p>
        ))}
        <p className="oq-paid">{price(response)}</p>
      </div>
      {throttled && !isOld && <Wait error={throttled} />}
    </div>
  );
}
