/** Panel: one run, as a grid of tiles and as lanes, with what is counted at the instant. */

import type { Run } from "./data";
import { element, type Part } from "./dom";
import { lanePart } from "./lanepart";
import { canPage, type Player } from "./player";
import { counts, type Counts } from "./state";
import { tilePart } from "./tilepart";
import { tr } from "./words";

export function panel(player: Player, number: number): Part {
  const run = player.runs[number];
  const tiles = tilePart(player, number);
  const lanes = lanePart(player, number);
  const live = element("dl", { class: "live" });
  const sms = new Set(run.lanes.map((lane) => Math.floor(lane / run.slotsPerSm))).size;
  const said = [
    counted(
      live,
      run.items.length ? tr("items done") : tr("tiles done"),
      "tilesDone",
      run.grid[0] * run.grid[1],
    ),
    counted(live, tr("blocks launched"), "blocksLaunched", run.blocks),
    counted(live, tr("SMs busy"), "busySms", sms),
  ];
  const notes = [windowNote(run, canPage(player)), lanes.note]
    .filter(Boolean)
    .map((words) => element("p", { class: "note" }, words));
  const made = element(
    "section",
    { class: "panel", "aria-label": run.name },
    element("header", {}, element("h2", {}, run.name), live),
    ...notes,
    element("div", { class: "pictures" }, tiles.element, lanes.element),
  );
  return {
    element: made,
    draw() {
      tiles.draw();
      lanes.draw();
      const now = counts(run, player.shown.t);
      said.forEach((say) => say(now));
    },
    refit() {
      tiles.refit!();
      lanes.refit!();
    },
  };
}

/** Add a figure to the list; what is returned writes it, "264/512". */
function counted(list: HTMLElement, name: string, count: keyof Counts, all: number): (now: Counts) => void {
  const value = element("dd");
  list.append(element("div", {}, element("dt", {}, name), value));
  return (now) => {
    value.textContent = `${now[count].toLocaleString("en")}/${all.toLocaleString("en")}`;
  };
}

/** What a page holds of a run that is too long for it; empty where it holds all. */
function windowNote({ window, count, segments }: Run, pages: boolean): string {
  if (count === segments) return "";
  const [from, to] = [window.since, window.until].map((t) => (t / 1000).toLocaleString("en"));
  const [held, all] = [count, segments].map((number) => number.toLocaleString("en"));
  const others = pages
    ? tr("Earlier and Later show the others.")
    : tr("tilesim view shows them all, window by window.");
  const what = tr(
    "This is a window of the run: {held} of {all} segments, {from} to {to} µs. The table counts all of them.",
    { held, all, from, to },
  );
  return `${what} ${others}`;
}
