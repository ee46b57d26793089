// The panel with the plan of the query: its statements, their parameters, and how they find their rows.

import type { GraphiQLPlugin } from "@graphiql/react";
import { useEffect, useState } from "react";

import { useOperation } from "../operation";
import { paid } from "../price/history";
import { plan, type ExecutedStatement, type Response, type Statement } from "../server";
import { session } from "../session";
import { useStore } from "../store";

function Access({ access, rowsExamined }: Statement) {
  if (!access) return null;
  const lookups = access.lookups.map(({ index, rows }) => `by index (${index.join(", ")}) if at most ${rows} rows match`);
  const order = `in order (${access.index.join(", ")})`;
  const window = access.window === null ? "" : `, ${access.window} rows at most`;
  return (
    <p>
      Finds its rows {[...lookups, order].join(", otherwise ")}
      {window}. Examines {rowsExamined} rows at most.
    </p>
  );
}

function Described({ statement, executed }: { statement: Statement; executed: ExecutedStatement | undefined }) {
  const { field, sql, parameters } = statement;
  return (
    <li>
      <h3>{field}</h3>
      <Access {...statement} />
      {executed && (
        <p>
          <strong>{executed.rows === null ? "Was not needed." : `${executed.rows} rows in ${executed.milliseconds} ms.`}</strong>
        </p>
      )}
      <pre tabIndex={0}>{sql}</pre>
      {parameters.length > 0 && (
        <dl>
          {parameters.map((parameter, index) => (
            <div key={index}>
              <dt>${index + 1}</dt>
              <dd>{typeof parameter === "string" ? parameter : JSON.stringify(parameter)}</dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}

function Plan() {
  const operation = useOperation();
  const user = useStore(session);
  const history = useStore(paid);
  const [response, setResponse] = useState<Response | null>(null);
  useEffect(() => {
    if (!operation || !user) return;
    const abort = new AbortController();
    plan(operation, abort.signal).then(setResponse, () => undefined);
    return () => abort.abort();
  }, [operation, user]);
  const statements = response?.extensions?.plan?.statements;
  const executed = history.find((entry) => entry.operation.query === operation?.query)?.executed;
  return (
    <div className="oq-panel">
      <h2>Plan</h2>
      {!user && <p>Sign in to see how the query is run.</p>}
      {statements && (
        <>
          <p>
            {statements.length} {statements.length === 1 ? "statement" : "statements"}, whatever the number of rows.{" "}
            {executed ? "" : "Run the query to see their rows and times."}
          </p>
          <ol className="oq-list">
            {statements.map((statement) => (
              <Described
                key={statement.field}
                statement={statement}
                executed={executed?.find(({ field }) => field === statement.field)}
              />
            ))}
          </ol>
        </>
      )}
      {response?.errors?.map((error, index) => (
        <p key={index} className="oq-error">
          {error.message}
        </p>
      ))}
    </div>
  );
}

function PlanIcon() {
  return (
    <svg viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.3" aria-hidden="true">
      <rect x="5.5" y="1.5" width="5" height="3.5" rx="1" />
      <rect x="1.5" y="11" width="5" height="3.5" rx="1" />
      <rect x="9.5" y="11" width="5" height="3.5" rx="1" />
      <path d="M8 5v3M4 11V8h8v3" />
    </svg>
  );
}

export const PLAN: GraphiQLPlugin = { title: "Plan", icon: PlanIcon, content: Plan };
