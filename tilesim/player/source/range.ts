/** Range: a span of time that the reader selects. It alone is played, and its totals are said. */

import { button, element, type Part } from "./dom";
import type { Player } from "./player";
import type { View } from "./timeline";
import { totals } from "./totals";
import { tr } from "./words";

/** Let the range begin or end at the instant; the other end stays, if it still lies on its side. */
export function beginRange({ shown, whole, change }: Player): void {
  const to = shown.range && shown.range.to > shown.t ? shown.range.to : whole.to;
  change({ range: selected(shown.t, to) });
}
export function endRange({ shown, whole, change }: Player): void {
  const from = shown.range && shown.range.from < shown.t ? shown.range.from : whole.from;
  change({ range: selected(from, shown.t) });
}

/** The range between two instants, in whole ns; null where there is none. */
export function selected(one: number, other: number): View | null {
  const [from, to] = [Math.round(Math.min(one, other)), Math.round(Math.max(one, other))];
  return from < to ? { from, to } : null;
}

/** What is said of the range; nothing while there is none. */
export function rangePart(player: Player): Part {
  const said = element("span", { "aria-live": "polite" });
  const clear = button("✕", tr("Select nothing"), () => player.change({ range: null }));
  const made = element("div", { class: "range" }, said, clear);
  let key = "";

  function draw(): void {
    const { range } = player.shown;
    made.hidden = !range;
    const now = range ? `${range.from} ${range.to}` : "";
    if (now === key) return;
    key = now;
    said.textContent = range
      ? [times(range), ...player.runs.map((run) => inWords(run, range))].join("; ")
      : "";
  }

  return { element: made, draw };
}

const us = (ns: number) =>
  (ns / 1000).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const times = ({ from, to }: View) => tr("{from} to {to} µs", { from: us(from), to: us(to) });

function inWords(run: Player["runs"][number], range: View): string {
  const { busy, idle, tiles } = totals(run, range);
  const share = `${((100 * busy) / (busy + idle)).toFixed(1)} %`;
  const fields = { run: run.name, busy: us(busy), idle: us(idle), share, tiles };
  return run.items.length
    ? tr("{run}: busy {busy} µs ({share}), idle {idle} µs of slot time, {tiles} items done", fields)
    : tr("{run}: busy {busy} µs ({share}), idle {idle} µs of slot time, {tiles} tiles done", fields);
}
