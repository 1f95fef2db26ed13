/** Totals: how busy the slots of a run are in a range of time, and how many tiles they finish in it. */

import type { Run } from "./data";
import { countUpTo } from "./state";
import type { View } from "./timeline";

/** Slot-time, ns. A slot is busy from the issue of a segment until it is done, and counts once. */
export interface Totals {
  busy: number;
  idle: number;
  tiles: number;
}

export function totals(run: Run, { from, to }: View): Totals {
  let busy = 0;
  for (const rows of run.rowsOf.values()) {
    let reached = from;
    for (const row of rows) {
      const until = Math.min(to, run.done[row]);
      busy += Math.max(0, until - Math.max(reached, run.issue[row]));
      reached = Math.max(reached, until);
    }
  }
  const tiles = countUpTo(run.written, to) - countUpTo(run.written, from);
  return { busy, idle: run.lanes.length * (to - from) - busy, tiles };
}
