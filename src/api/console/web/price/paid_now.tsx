// What the last query cost, below its response.

import { useStore } from "../store";
import { paid } from "./history";

export function PaidNow() {
  const [last] = useStore(paid);
  return (
    <p className="oq-footer" role="status">
      {last
        ? last.error
          ? `${last.error}: ${last.requested} credits paid`
          : `${last.requested} credits paid; the rows that came back are worth ${last.actual}`
        : "Nothing was run yet"}
    </p>
  );
}
