/** Pick: what is under the pointer, and what there is to say of it. */

import type { Run } from "./data";
import { segmentPhase, Phase } from "./state";
import { tr } from "./words";

/** A line of a card: what, and how much. `role` is that of its colour, if it has one. */
export interface Fact {
  what: string;
  value: string;
  role?: string;
}

/** The segment that stands for a tile at an instant: one that is in progress, else the last to be done. */
export function rowOfTile(run: Run, tile: number, t: number): number {
  let found = -1;
  for (let row = 0; row < run.count; row++) {
    if (run.tile[row] !== tile) continue;
    const phase = segmentPhase(run, row, t);
    if (phase > Phase.Waiting && phase < Phase.Done) return row;
    if (found < 0 || run.done[row] > run.done[found]) found = row;
  }
  return found;
}

export const ns = (length: number) => `${length.toLocaleString("en")} ns`;

/** All that is known of a segment. */
export function facts(run: Run, row: number): Fact[] {
  const tile = run.tile[row];
  const order = run.window.first + row;
  const wave = Math.floor(order / run.lanes.length) + 1;
  const slot = run.slotsPerSm > 1 ? `, ${tr("slot {slot}", { slot: run.slot[row] })}` : "";
  return [
    ...(run.items.length ? item(run, tile) : [place(run, tile)]),
    { what: "SM", value: `${run.sm[row]}${slot}` },
    { what: tr("Thread block"), value: String(run.cta[row]) },
    { what: tr("Order"), value: tr("{part} of {whole}", { part: order + 1, whole: run.segments }) },
    { what: tr("Wave"), value: String(wave) },
    ...(run.items.length ? [] : [steps(run, row)]),
    ...phasesOf(run, row).map(({ what, role, length }) => ({ what, role, value: ns(length) })),
    { what: tr("From, to"), value: `${ns(run.issue[row])}, ${ns(run.done[row])}` },
    length(run, row),
  ];
}

/** How long a segment takes, beside the median of its run. */
function length(run: Run, row: number): Fact {
  const taken = run.done[row] - run.issue[row];
  const more = 100 * (taken / run.median - 1);
  const fields = { time: ns(taken), more: `${more < 0 ? "−" : "+"}${Math.abs(more).toFixed(1)} %` };
  return { what: tr("Length"), value: tr("{time}, median {more}", fields) };
}

/** Where a tile of C is. */
function place(run: Run, tile: number): Fact {
  const columns = run.grid[1];
  const fields = { tile, row: Math.floor(tile / columns), column: tile % columns };
  return { what: tr("Tile"), value: tr("{tile} (row {row}, column {column})", fields) };
}

/** Which K-steps of its tile a segment computes. */
function steps(run: Run, row: number): Fact {
  const fields = { part: `${run.k0[row]}–${run.k1[row]}`, whole: run.kSteps };
  return { what: tr("K-steps"), value: tr("{part} of {whole}", fields) };
}

/** The name and the size of a work item. */
function item(run: Run, tile: number): Fact[] {
  const size = run.sizes.length ? [{ what: tr("Size"), value: run.sizes[tile].toLocaleString("en") }] : [];
  const name = tr("{name} (number {number})", { name: run.items[tile], number: tile });
  return [{ what: tr("Item"), value: name }, ...size];
}

/** What a tile of a run is called. */
export const noun = (run: Run) => (run.items.length ? tr("item") : tr("tile"));

/** A column of times. */
export type Column = "issue" | "load" | "start" | "drain" | "ready" | "fixup" | "done";

interface PhaseName {
  what: string;
  role: string;
  from: Column;
  to: Column;
}

/** What the phases of a run's segments are called. `opens`: of its thread block's first one. */
export function phaseNames(run: Run, opens: boolean): PhaseName[] {
  // A recorded run's stamps begin after the launch, which is that of a benchmark.
  const launch = run.origin === "measured" ? tr("Launch (benchmark)") : tr("Launch");
  const first: PhaseName[] = [
    { what: launch, role: "launch", from: "issue", to: "load" },
    { what: tr("First load"), role: "load", from: "load", to: "start" },
  ];
  const later: PhaseName = { what: tr("Hand over"), role: "hand-over", from: "issue", to: "start" };
  return [
    ...(opens ? first : [later]),
    { what: run.items.length ? tr("Work") : tr("Multiply"), role: "multiply", from: "start", to: "drain" },
    { what: tr("Wait"), role: "wait", from: "drain", to: "ready" },
    { what: tr("Fix up"), role: "partial", from: "ready", to: "fixup" },
    { what: tr("Write"), role: "write", from: "fixup", to: "done" },
  ];
}

/** The phases that a segment has, with their lengths. */
export function phasesOf(run: Run, row: number) {
  return phaseNames(run, run.opens[row] === 1)
    .map((phase) => ({ ...phase, length: run[phase.to][row] - run[phase.from][row] }))
    .filter(({ length }) => length > 0);
}
