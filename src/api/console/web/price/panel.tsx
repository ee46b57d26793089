// The panel with the price of the query, what would make it fit, and what was paid so far.

import type { GraphiQLPlugin } from "@graphiql/react";

import { bucket } from "../bucket";
import { useEditors } from "../editors";
import { paid } from "../history/history";
import { icon } from "../icon";
import { count, number } from "../numbers";
import { advised } from "../response/advice";
import { askToSignIn, session } from "../session";
import { useStore } from "../store";
import type { Cost, FieldCost, GraphqlError, Operation } from "../server";
import { differences, repairs } from "./repairs";
import { outdate, priced } from "./watch";

function Total({ cost }: { cost: Cost }) {
  const { requestedQueryCost: credits, maxCost = 0, depth, maxDepth, branches = 0, gates = {} } = cost;
  const isTooMuch = credits > maxCost;
  const wait = gates.bucket?.retryAfterMs;
  const affordable =
    isTooMuch || gates.bucket?.passed
      ? ""
      : wait
        ? `The bucket covers it in ${(wait / 1000).toFixed(1)} s.`
        : "The bucket never covers it.";
  const facts = [`depth ${depth} of ${maxDepth}`, count(branches, "branch")];
  return (
    <>
        <p className={isTooMuch ? "oq-total oq-too-much" : "oq-total"}>
          <strong data-testid="price">{number(credits)}</strong> of {count(maxCost, "credit")}
        </p>
        <meter aria-label="Price" min={0} max={maxCost} high={maxCost * 0.8} value={Math.min(credits, maxCost)} />
        <p>
          {facts.join(", ")}. {affordable}
        </p>
    </>
  );
}

function Problem({ error, operation, isOld }: { error: GraphqlError; operation: Operation; isOld: boolean }) {
  const edit = useEditors();
  const line = error.locations?.[0]?.line;
  return (
    <li>
      <p>
        {line !== undefined && <span className="oq-note">Line {line}: </span>}
        {advised(error)}
      </p>
      {repairs(operation, error).map((repair) => (
        <div key={repair.label} className="oq-buttons">
          <button
            type="button"
            disabled={isOld}
            onClick={() => {
              outdate();
              edit(repair.operation);
            }}
          >
            {repair.label}
          </button>
          {differences(operation, repair).map(({ from, to }) => (
            <span key={from + to} className="oq-note oq-difference">
              {from && <del>{from}</del>} {to && <ins>{to}</ins>}
            </span>
          ))}
        </div>
      ))}
    </li>
  );
}

/** How far a field is below the lines above it. `edges` and `node` are free, and have no lines. */
function indent({ path }: FieldCost): number {
  return path.filter((key) => key !== "edges" && key !== "node").length - 1;
}

function Fields({ fields }: { fields: FieldCost[] }) {
  const expensive = fields.filter((field) => field.times * field.definedCost > 0);
  return (
    <>
    <table>
      <caption>What each field adds</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Times</th>
          <th scope="col">Fixed</th>
          <th scope="col">Credits</th>
        </tr>
      </thead>
      <tbody>
        {expensive.map((field) => (
          <tr key={field.path.join("/")}>
            <th scope="row" style={{ paddingLeft: `${indent(field) + 0.25}em` }}>
              {field.path.at(-1)}
            </th>
            <td>{number(field.times)}</td>
            <td>{field.searchPenalty ? `+${number(field.searchPenalty)}` : ""}</td>
            <td>{number(field.requestedSubtreeCost)}</td>
          </tr>
        ))}
      </tbody>
    </table>
    {expensive.some((field) => field.searchPenalty) && (
      <p className="oq-note">
        Fixed: the price of each search term on a key that is not selective, since its values may be those of many rows; and of a list
        that may be null, by the rows that it can have. It is the same however few rows the plan reads.
      </p>
    )}
    </>
  );
}

function Price() {
  const current = useStore(priced);
  const user = useStore(session);
  const status = useStore(bucket);
  const spent = useStore(paid).reduce((total, { requested }) => total + requested, 0);
  const cost = current?.response.extensions?.cost;
  return (
    <div className="oq-panel">
      <h2>Price</h2>
      {!user && (
        <p>
          <button type="button" className="oq-primary" onClick={() => askToSignIn()}>
            Sign in
          </button>{" "}
          to see what the query costs. Asking for the price is free.
        </p>
      )}
      {user && !current && <p>Write a query to see what it costs, and what each of its fields adds.</p>}
      <div aria-live="polite">
        {cost && <Total cost={cost} />}
        {current?.response.errors && (
          <ul className="oq-problems">
            {current.response.errors.map((error, index) => (
              <Problem key={index} error={error} operation={current.operation} isOld={current.isOld ?? false} />
            ))}
          </ul>
        )}
      </div>
      {status && (
        <p className="oq-note">
          The bucket holds {count(status.maximumAvailable, "credit")} and regains {number(status.restoreRate)} a second.
        </p>
      )}
      {cost?.fields && cost.fields.length > 0 && <Fields fields={cost.fields} />}
      {spent > 0 && <p id="paid">Paid so far: {count(spent, "credit")}</p>}
    </div>
  );
}

const PriceIcon = icon(
  <>
    <circle cx="8" cy="8" r="6.5" />
    <path d="M10.5 5.5a3.3 3.3 0 1 0 0 5M5 8h4" />
  </>,
);

export const PRICE: GraphiQLPlugin = { title: "Price", icon: PriceIcon, content: Price };
