// The caller's bucket of credits, as the last response said, and as it has refilled since.

import { useEffect, useState } from "react";

import { number } from "./numbers";
import { createStore, useStore } from "./store";

export interface Throttle {
  maximumAvailable: number;
  currentlyAvailable: number;
  restoreRate: number;
}

interface Bucket extends Throttle {
  /** When it was so, in milliseconds. */
  at: number;
}

export const bucket = createStore<Bucket | null>(null);

/** The credits at a time. */
export function creditsAt(known: Bucket, now: number): number {
  const restored = (known.restoreRate * Math.max(0, now - known.at)) / 1000;
  return Math.floor(Math.min(known.maximumAvailable, known.currentlyAvailable + restored));
}

export function BucketGauge() {
  const known = useStore(bucket);
  const [now, setNow] = useState(Date.now);
  const credits = known ? creditsAt(known, now) : 0;
  const refills = known !== null && credits < known.maximumAvailable;
  useEffect(() => {
    setNow(Date.now());
    if (!refills) return;
    const timer = setInterval(() => setNow(Date.now()), 200);
    return () => clearInterval(timer);
  }, [known, refills]);
  if (!known) return null;
  const text = `${number(credits)} of ${number(known.maximumAvailable)} credits`;
  return (
    <span className="oq-gauge" title={`${text}; ${number(known.restoreRate)} are restored a second`}>
      <meter aria-label="Credits in the bucket" min={0} max={known.maximumAvailable} value={credits} aria-valuetext={text} />
      <span aria-hidden="true">
        <span className="oq-number">{number(credits)}</span> credits left
      </span>
    </span>
  );
}
