// What the last query cost, below its response; or that the server is away.

import { useGraphiQLActions } from "@graphiql/react";

import { Away } from "../away";
import { missed } from "../execute";
import { count } from "../numbers";
import { unreachable } from "../server";
import { useStore } from "../store";
import { paid } from "./history";

export function PaidNow() {
  const [last] = useStore(paid);
  const reason = useStore(unreachable);
  const missedRun = useStore(missed);
  const { run } = useGraphiQLActions();
  if (reason) {
    const shown = missedRun?.shown;
    const note = shown ? ` The result above is old, of ${shown.at.toLocaleTimeString()}.` : "";
    // What was only priced is not run.
    const retry = missedRun ? () => void run() : () => unreachable.set(null);
    return <Away message={reason + note} retry={retry} />;
  }
  return (
    <p className="oq-footer" role="status">
      {last
        ? last.error
          ? `${last.error}: ${count(last.requested, "credit")} paid`
          : `${count(last.requested, "credit")} paid; the rows that came back are worth ${count(last.actual, "credit")}`
        : "Run the query to see its result here, and what it cost."}
    </p>
  );
}
