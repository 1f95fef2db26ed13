/** Lane part: the lanes of a run in its panel and, where they are thin, a close look at the lit SM below. */

import { palette, type Palette } from "./colours";
import { canvas, element, sized, type Part } from "./dom";
import { gestures } from "./gestures";
import { AXIS, areTall, GUTTER, laneBox, lanesHeight, rowAt, tAt, type LaneBox } from "./lanebox";
import { paintLanes, type LanePicture, type Subject } from "./lanepicture";
import { drawLanes, markRange, outline } from "./lanes";
import type { Player } from "./player";
import { leftOfLanes, room } from "./room";
import type { Place } from "./shown";
import { tr } from "./words";

/** CSS pixels of a lane that is looked at closely. */
const CLOSE = 30;

/** Lanes of a picture. Of more, one of so many is drawn, and a note says so. */
const MOST_LANES = 1024;

export function lanePart(player: Player, number: number): Part & { note: string } {
  const run = player.runs[number];
  const every = Math.ceil(run.lanes.length / MOST_LANES);
  const drawn = run.lanes.filter((_, index) => index % every === 0);
  const lanes = canvas(
    tr("Lanes of {run}, one a slot; the keys up and down go through them", { run: run.name }),
  );
  const close = canvas(tr("Close look at the lit SM of {run}", { run: run.name }));
  const picture: LanePicture = { canvas: document.createElement("canvas"), key: "" };
  const closePicture: LanePicture = { canvas: document.createElement("canvas"), key: "" };
  const made = element("div", { class: "lanes" }, lanes, close);
  let colours: Palette;
  let box = laneBox(drawn, GUTTER, room(player.runs.length));
  let closeBox = box;
  let fits = 0;

  gestures(player, lanes, {
    time: (x) => tAt(box, player.shown.view, x),
    place: (x, y) => placeAt(box, x, y),
    isAxis: (y) => y > lanesHeight(box),
  });
  gestures(player, close, {
    time: (x) => tAt(closeBox, player.shown.view, x),
    place: (x, y) => placeAt(closeBox, x, y),
    isAxis: () => false,
  });
  lanes.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const row = throughLanes(by);
    if (row >= 0) player.change({ pinned: { run: number, row }, pointer: null });
  });

  function placeAt(where: LaneBox, x: number, y: number): Place | null {
    const index = Math.floor(y / (where.lane + where.gap));
    if (x < GUTTER || index < 0 || index >= where.lanes.length) return null;
    const row = rowAt(run, where.lanes[index], tAt(where, player.shown.view, x));
    return row < 0 ? null : { run: number, row };
  }

  /** What the next lane that has begun anything does at the instant, or did last; -1 where none has. */
  function throughLanes(by: number): number {
    const { pinned, t } = player.shown;
    const count = run.lanes.length;
    const slot = pinned?.run === number ? run.sm[pinned.row] * run.slotsPerSm + run.slot[pinned.row] : -1;
    let index = slot < 0 ? (by > 0 ? -1 : count) : run.lanes.indexOf(slot);
    for (let tried = 0; tried < count; tried++) {
      index = (index + by + count) % count;
      const now = rowAt(run, run.lanes[index], t);
      if (now >= 0) return now;
      const begun = run.rowsOf.get(run.lanes[index])!.filter((row) => run.issue[row] <= t);
      if (begun.length) return begun[begun.length - 1];
    }
    return -1;
  }

  function refit(): void {
    colours = palette(made, run.sms);
    fits++;
    const width = made.parentElement!.clientWidth;
    const runs = player.runs.length;
    box = laneBox(drawn, width - leftOfLanes(runs), room(runs));
  }

  function draw(): void {
    const { t, view, range, lit, hovered, pinned } = player.shown;
    const scale = window.devicePixelRatio || 1;
    const key = [fits, view.from, view.to, lit?.kind, lit?.id, scale].join();
    const subject: Subject = { run, box, view, colours, lit, scale };
    paintLanes(picture, key, subject);
    const context = sized(lanes, GUTTER + box.width, lanesHeight(box) + AXIS);
    drawLanes(context, picture, subject, t, true);
    if (range) markRange(context, box, view, range, colours);
    for (const place of [hovered, pinned]) {
      if (place?.run === number) outline(context, run, place.row, box, view, colours.css.cursor);
    }

    const slots = closeSlots();
    close.hidden = areTall(box) || !slots.length;
    if (close.hidden) return;
    closeBox = laneBox(slots, GUTTER + box.width, CLOSE * slots.length);
    const closer = { ...subject, box: closeBox };
    paintLanes(closePicture, key, closer);
    const below = sized(close, GUTTER + box.width, lanesHeight(closeBox));
    drawLanes(below, closePicture, closer, t, false);
  }

  /** The slots of the SM that is lit, or on which the lit block ran. */
  function closeSlots(): number[] {
    const { lit } = player.shown;
    const row = lit?.kind === "block" ? run.cta.indexOf(lit.id) : -1;
    const sm = lit?.kind === "sm" ? lit.id : row >= 0 ? run.sm[row] : -1;
    return run.lanes.filter((lane) => Math.floor(lane / run.slotsPerSm) === sm);
  }

  const note =
    every > 1
      ? tr("One of {every} slots has a lane; there are {slots}.", {
          every,
          slots: run.lanes.length.toLocaleString("en"),
        })
      : "";
  return { element: made, draw, refit, note };
}
