// The frame of the console's own icons.

import type { ReactNode } from "react";

/** An icon of lines, on a square of 16 by 16. */
export function icon(lines: ReactNode) {
  return () => (
    <svg viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.3" aria-hidden="true">
      {lines}
    </svg>
  );
}
