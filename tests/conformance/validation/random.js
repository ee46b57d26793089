// Random choices from a seed. The same seed gives the same document everywhere.

/** A source of random choices (Mulberry32). */
export class Random {
  constructor(seed) {
    this.state = seed | 0;
  }

  /** A number from 0 up to 1. */
  fraction() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to a bound. */
  below(bound) {
    return Math.floor(this.fraction() * bound);
  }

  /** An element of a list. */
  pick(list) {
    return list[this.below(list.length)];
  }

  /** True with that probability. */
  chance(probability) {
    return this.fraction() < probability;
  }

  /** A list of that many results of a function. */
  times(count, make) {
    return Array.from({ length: count }, (_, index) => make(index));
  }
}
