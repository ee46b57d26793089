// The panel with the plan of the query: the branches of its statement, how they find their rows, and its SQL and parameters.

import type { GraphiQLPlugin } from "@graphiql/react";
import { useEffect, useState } from "react";

import { count, number } from "../numbers";
import { useOperation } from "../operation";
import { paid } from "../history/history";
import { icon } from "../icon";
import { advised } from "../response/advice";
import { plan, type Branch, type ExecutedPlan, type Plan, type Response } from "../server";
import { session } from "../session";
import { useStore } from "../store";

/** How many pages are read for a page of rows. */
function pagesOfRows({ fewest, oneRowOf, checked }: NonNullable<Branch["expectedPages"]>) {
  if (oneRowOf === null) return "Fills its pages.";
  const keys = checked.join(", ");
  const many = oneRowOf === 1 ? `N × ${fewest}` : `N / ${oneRowOf}`;
  return `May come short: ${keys} is checked row by row. A page of rows takes ${count(fewest, "page")} if one of ${count(oneRowOf, "row")} of the window matches, ${many} pages if one of N does.`;
}

function Access({ access, rowsExamined = 0, expectedPages }: Branch) {
  if (!access) return null;
  const lookups = access.lookups.map(({ index, rows }) => `by index (${index.join(", ")}) if at most ${count(rows, "row")} match`);
  const order = `in order (${access.index.join(", ")})`;
  const window = access.window === null ? "" : `, ${count(access.window, "row")} at most`;
  return (
    <p>
      Finds its rows {[...lookups, order].join(", otherwise ")}
      {window}. Examines {count(rowsExamined, "row")} at most. {expectedPages && pagesOfRows(expectedPages)}
    </p>
  );
}

interface Run {
  branches: Branch[];
  executed: ExecutedPlan | undefined;
}

/** A branch, whose number is that of its step in the SQL, and the branches below it. */
function Described({ branches, executed, index }: Run & { index: number }) {
  const branch = branches[index];
  if (!branch) return null;
  const { field } = branch;
  const parent = branches[branch.parent ?? -1];
  const name = parent && field.startsWith(`${parent.field}.`) ? field.slice(parent.field.length + 1) : field;
  const rows = executed?.branches.find((found) => found.field === field)?.rows;
  return (
    <li>
      <p className="oq-branch">
        Branch {index}: <strong>{name}</strong>
        {parent && `, for each row of branch ${branch.parent}`}
        {typeof rows === "number" && (
          <>
            {", "}
            <strong>{count(rows, "row")}</strong>
          </>
        )}
      </p>
      <Access {...branch} />
      <Branches branches={branches} executed={executed} parent={index} />
    </li>
  );
}

/** The branches below one, or the outermost. */
function Branches({ branches, executed, parent }: Run & { parent: number | null }) {
  const indices = branches.flatMap((branch, index) => (branch.parent === parent ? [index] : []));
  if (indices.length === 0) return null;
  return (
    <ul className="oq-tree">
      {indices.map((index) => (
        <Described key={index} branches={branches} executed={executed} index={index} />
      ))}
    </ul>
  );
}

/** The SQL with its parameters below it. */
function Statement({ sql, parameters }: NonNullable<Plan["statement"]>) {
  const values = parameters.map((parameter, index) => `$${index + 1} = ${JSON.stringify(parameter)}`);
  return (
    <section aria-labelledby="statement">
      <h3 id="statement">Statement</h3>
      <pre tabIndex={0}>{[sql, ...(values.length > 0 ? ["", ...values] : [])].join("\n")}</pre>
    </section>
  );
}

function time(executed: ExecutedPlan | undefined): string {
  if (!executed) return "Run the query to see its rows and its time.";
  return executed.milliseconds === null ? "It did not finish." : `It took ${number(executed.milliseconds)} ms.`;
}

function Planned({ statement, branches, executed }: Plan & Run) {
  if (!statement) return <p>No statement: the query needs no database.</p>;
  return (
    <>
      <p>
        1 statement, {count(branches.length, "branch")}, whatever the number of rows.{" "}
        <span role="status">{time(executed)}</span>
      </p>
      <Branches branches={branches} executed={executed} parent={null} />
      <Statement {...statement} />
    </>
  );
}

function Panel() {
  const operation = useOperation();
  const user = useStore(session);
  const history = useStore(paid);
  const [response, setResponse] = useState<Response<Plan> | null>(null);
  useEffect(() => {
    if (!operation || !user) return;
    const abort = new AbortController();
    plan(operation, abort.signal).then(setResponse, () => undefined);
    return () => abort.abort();
  }, [operation, user]);
  const planned = operation && response?.extensions?.plan;
  const executed = history.find((entry) => entry.operation.query === operation?.query)?.executed;
  return (
    <div className="oq-panel">
      <h2>Plan</h2>
      {!user && <p>Sign in to see how the query is run: its SQL statement, its parameters, and how each part finds its rows.</p>}
      {user && !operation && <p>Write a query to see its SQL statement, its parameters, and how each part finds its rows.</p>}
      {planned && <Planned {...planned} executed={executed} />}
      {operation && response?.errors?.map((error, index) => (
        <p key={index} className="oq-error">
          {advised(error)}
        </p>
      ))}
    </div>
  );
}

const PlanIcon = icon(
  <>
    <rect x="5.5" y="1.5" width="5" height="3.5" rx="1" />
    <rect x="1.5" y="11" width="5" height="3.5" rx="1" />
    <rect x="9.5" y="11" width="5" height="3.5" rx="1" />
    <path d="M8 5v3M4 11V8h8v3" />
  </>,
);

export const PLAN: GraphiQLPlugin = { title: "Plan", icon: PlanIcon, content: Panel };
