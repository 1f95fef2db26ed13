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
    ...phases(run, row),
    { what: tr("From, to"), value: `${ns(run.issue[row])}, ${ns(run.done[row])}` },
  ];
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

function phases(run: Run, row: number): Fact[] {
  const opens = run.opens[row] === 1;
  // A recorded run's stamps begin after the launch, which is that of a benchmark.
  const launch = run.origin === "measured" ? tr("Launch (benchmark)") : tr("Launch");
  const parts: [string, string, number, number][] = [
    [launch, "launch", run.issue[row], opens ? run.load[row] : run.issue[row]],
    [
      opens ? tr("First load") : tr("Hand over"),
      opens ? "load" : "hand-over",
      opens ? run.load[row] : run.issue[row],
      run.start[row],
    ],
    [run.items.length ? tr("Work") : tr("Multiply"), "multiply", run.start[row], run.drain[row]],
    [tr("Wait"), "wait", run.drain[row], run.ready[row]],
    [tr("Fix up"), "fix-up", run.ready[row], run.fixup[row]],
    [tr("Write"), "write", run.fixup[row], run.done[row]],
  ];
  return parts
    .filter(([, , from, to]) => to > from)
    .map(([what, role, from, to]) => ({ what, role, value: ns(to - from) }));
}
