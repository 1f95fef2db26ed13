/** Data: the runs of a page, as Python wrote them and as typed columns. Times are ns. */

/** What `tilesim.player.page` writes. */
export interface Given {
  runs: GivenRun[];
  /** The instant to open at; null: the end. */
  at: number | null;
  /** What the server calls this version of the page, if it is to be loaded again when that changes. */
  version: string;
  lag: Lag | null;
  /** Instants of the windows before and after this one; null where there is none. */
  earlier: number | null;
  later: number | null;
  /** The page's language: what it says instead of its English. */
  words: Record<string, string>;
}

/** By how much the measured run is behind the simulated one; linear between the times. */
export interface Lag {
  times: number[];
  lags: number[];
}

/** The rows of a run that the page holds; see `tilesim/player/data.py`. */
export interface Window {
  first: number;
  last: number;
  since: number;
  until: number;
  tiles: number;
  blocks: number;
  resident: number[];
  unfinished: number[];
}

interface Facts {
  name: string;
  origin: "simulated" | "measured";
  sms: number;
  slotsPerSm: number;
  /** The slots of free SMs, sm · slotsPerSm + slot: a lane each. */
  lanes: number[];
  /** Rows and columns of tiles. */
  grid: [number, number];
  /** Rows and columns of an element of C in a tile. */
  tileShape: [number, number];
  kSteps: number;
  /** Names of work items, in place of tiles of C; none where there are tiles. */
  items: string[];
  /** Of each, in whatever unit; none where they are not known. */
  sizes: number[];
  /** Thread blocks with work. */
  blocks: number;
  segments: number;
  makespan: number;
  window: Window;
}

export interface GivenRun extends Facts {
  columns: string;
}

/** A run: columns of its segments in order of issue, and what is derived from them once. */
export interface Run extends Facts {
  count: number;
  tile: Int32Array;
  cta: Int32Array;
  sm: Int32Array;
  slot: Int32Array;
  k0: Int32Array;
  k1: Int32Array;
  issue: Float64Array;
  load: Float64Array;
  start: Float64Array;
  drain: Float64Array;
  ready: Float64Array;
  fixup: Float64Array;
  done: Float64Array;
  /** Whether a row is its thread block's first segment: 0 or 1. */
  opens: Uint8Array;
  /** When tiles are written, in order. */
  written: Float64Array;
  /** When thread blocks are launched, in order. */
  launched: Float64Array;
  /** The SM that finishes each tile. */
  finisher: Map<number, number>;
  /** The rows of each lane, in order of their start, by slot number. */
  rowsOf: Map<number, number[]>;
  /** ns from the issue of a segment until it is done, of those that the page holds. */
  median: number;
}

export function read(given: GivenRun): Run {
  const count = given.window.last - given.window.first;
  const next = decoder(given.columns);
  const places = Array.from({ length: 6 }, () => Int32Array.from(column(next, count)));
  const times = [column(next, count)];
  for (let part = 1; part < 7; part++) {
    const before = times[part - 1];
    times.push(column(next, count).map((length, row) => before[row] + length));
  }
  const [tile, cta, sm, slot, k0, k1] = places;
  const [issue, load, start, drain, ready, fixup, done] = times;
  const columns = { tile, cta, sm, slot, k0, k1, issue, load, start, drain, ready, fixup, done };
  return { ...given, count, ...columns, ...derived(given, columns) };
}

/** A function that gives one number after another of zigzag LEB128 in base64. */
function decoder(text: string): () => number {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  let at = 0;
  return () => {
    let value = 0;
    let scale = 1;
    let byte: number;
    do {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value % 2 ? -(value + 1) / 2 : value / 2;
  };
}

/** A column from the differences of its rows. */
function column(next: () => number, count: number): Float64Array {
  const values = new Float64Array(count);
  let value = 0;
  for (let row = 0; row < count; row++) values[row] = value += next();
  return values;
}

type Columns = Pick<Run, "tile" | "cta" | "sm" | "slot" | "issue" | "start" | "done">;

function derived(facts: Facts, { tile: tileOf, cta, sm, slot, issue, start, done }: Columns) {
  const opens = new Uint8Array(tileOf.length);
  const written = new Map<number, number>();
  const finisher = new Map<number, number>();
  const last = new Map<number, number>();
  const rowsOf = new Map<number, number[]>(facts.lanes.map((lane) => [lane, []]));
  const seen = new Set(facts.window.resident);
  for (let row = 0; row < tileOf.length; row++) {
    const tile = tileOf[row];
    if (!seen.has(cta[row])) opens[row] = 1;
    seen.add(cta[row]);
    const before = last.get(tile);
    // Of segments that end together, that of the higher thread block finishes the tile.
    if (
      before === undefined ||
      done[row] > done[before] ||
      (done[row] === done[before] && cta[row] > cta[before])
    ) {
      last.set(tile, row);
      finisher.set(tile, sm[row]);
      written.set(tile, done[row]);
    }
    rowsOf.get(sm[row] * facts.slotsPerSm + slot[row])?.push(row);
  }
  // A segment of theirs comes after the window.
  for (const tile of facts.window.unfinished) written.delete(tile);
  for (const rows of rowsOf.values()) rows.sort((a, b) => start[a] - start[b]);
  const launched = issue.filter((_, row) => opens[row]);
  const median = medianOf(done.map((end, row) => end - issue[row]));
  return { opens, written: Float64Array.from(written.values()).sort(), launched, finisher, rowsOf, median };
}

function medianOf(values: Float64Array): number {
  const sorted = values.slice().sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** The instants between which every run of a page is whole. */
export function span(runs: Run[]): [number, number] {
  const whole = (run: Run) => run.count === run.segments;
  const since = Math.max(...runs.map((run) => run.window.since));
  const ends = runs.filter((run) => !whole(run)).map((run) => run.window.until);
  const until = ends.length ? Math.min(...ends) : Math.max(...runs.map((run) => run.makespan));
  return since < until ? [since, until] : [runs[0].window.since, runs[0].window.until];
}
