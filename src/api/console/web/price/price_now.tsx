// The price of the query, where it is seen whichever panel is open.

import { count, number } from "../numbers";
import { useStore } from "../store";
import { priced } from "./watch";

export function PriceNow() {
  const cost = useStore(priced)?.response.extensions?.cost;
  if (!cost) return null;
  const { requestedQueryCost: credits, maxCost = credits } = cost;
  return (
    <span className={credits > maxCost ? "oq-price oq-error" : "oq-price"} title={`This query costs ${count(credits, "credit")}`}>
      Price: {number(credits)}
    </span>
  );
}
