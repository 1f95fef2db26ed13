/** Address: what stands behind # in the page's address. It says how the page behaves, and what it shows. */

import type { Run } from "./data";
import { SPEEDS, type Shown } from "./shown";
import type { View } from "./timeline";

/** How a page behaves. `theme`: "dark", "light", or "" for that of the reader or of the page around it. */
export interface Options {
  compact: boolean;
  autoplay: boolean;
  theme: string;
}

export function optionsIn(address: string): Options {
  const found = new URLSearchParams(address.replace(/^#/, ""));
  const theme = found.get("theme") ?? "";
  return {
    compact: found.has("compact"),
    autoplay: found.has("autoplay"),
    theme: ["dark", "light"].includes(theme) ? theme : "",
  };
}

/** What of `Shown` an address asks for; what the runs do not have is left out. Its times are µs, with or without the unit. */
export function shownIn(address: string, runs: Run[], whole: View): Partial<Shown> {
  const found = new URLSearchParams(address.replace(/^#/, ""));
  const shown: Partial<Shown> = { loop: found.has("loop") };
  const number = (name: string) => (found.get(name) ? Number(found.get(name)!.replace(/[uµ]s$/, "")) : NaN);
  const time = (name: string, otherwise: number) => {
    const us = number(name);
    return Number.isFinite(us) ? Math.min(whole.to, Math.max(whole.from, Math.round(1000 * us))) : otherwise;
  };
  const span = (from: string, to: string): View | null => {
    if (!found.has(from) && !found.has(to)) return null;
    const view = { from: time(from, whole.from), to: time(to, whole.to) };
    return view.from < view.to ? view : null;
  };
  const range = span("start", "end");
  if (range) Object.assign(shown, { range, view: range, t: range.to });
  const view = span("from", "to");
  if (view) shown.view = view;
  if (found.has("at")) shown.t = time("at", whole.to);
  const speed = number("speed");
  if (speed > 0) {
    const apart = SPEEDS.map((factor) => Math.abs(Math.log(factor / speed)));
    shown.speed = apart.indexOf(Math.min(...apart));
  }
  for (const kind of ["sm", "block", "tile"] as const) {
    const id = number(kind);
    if (Number.isInteger(id) && id >= 0) shown.lit = { kind, id };
  }
  const [run, row] = (found.get("pin") ?? "").split(".").map(Number);
  if (runs[run] && row >= 0 && row < runs[run].count) shown.pinned = { run, row };
  return shown;
}

/** The address, from its # on, that shows the same again. */
export function addressOf({ t, view, range, speed, loop, lit, pinned }: Shown, whole: View): string {
  const us = (ns: number) => Math.round(ns) / 1000;
  const said = [`at=${us(t)}`];
  if (view.from !== whole.from || view.to !== whole.to)
    said.push(`from=${us(view.from)}`, `to=${us(view.to)}`);
  if (range) said.push(`start=${us(range.from)}`, `end=${us(range.to)}`);
  if (SPEEDS[speed] !== 1) said.push(`speed=${SPEEDS[speed]}`);
  if (loop) said.push("loop");
  if (lit) said.push(`${lit.kind}=${lit.id}`);
  if (pinned) said.push(`pin=${pinned.run}.${pinned.row}`);
  return `#${said.join("&")}`;
}
