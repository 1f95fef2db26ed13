/** Shown: what a reader has chosen to see, one object that the whole page is drawn from. */

import type { Run } from "./data";
import type { View } from "./timeline";

/** What is lit in every panel, while all else is dimmed. */
export type Lit = { kind: "sm" | "block" | "tile"; id: number } | null;

/** A segment that is looked at: the number of its run, and its row. */
export interface Place {
  run: number;
  row: number;
}

export interface Shown {
  t: number;
  view: View;
  playing: boolean;
  /** Of SPEEDS. */
  speed: number;
  lit: Lit;
  hovered: Place | null;
  pinned: Place | null;
  /** What alone is played, and has its totals said; null for the whole run. */
  range: View | null;
  /** Whether the end is followed by the beginning. */
  loop: boolean;
  /** Where on the screen the pointer chose what is hovered or pinned; null by keyboard. */
  pointer: { x: number; y: number } | null;
}

/** How often the whole run is played in WHOLE seconds. */
export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];
export const WHOLE = 10;

export function isLit(lit: Lit, run: Run, row: number): boolean {
  if (!lit) return true;
  const column = lit.kind === "sm" ? run.sm : lit.kind === "block" ? run.cta : run.tile;
  return column[row] === lit.id;
}
