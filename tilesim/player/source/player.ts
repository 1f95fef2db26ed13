/** Player: the runs, what is shown of them, and the clock that all of them follow. */

import { read, span, type Given, type Run } from "./data";
import { SPEEDS, WHOLE, type Shown } from "./shown";
import { countUpTo, events } from "./state";
import { following, type View } from "./timeline";
import { tr } from "./words";

export interface Player {
  runs: Run[];
  given: Given;
  whole: View;
  shown: Shown;
  /** Milliseconds that the last frames took to draw, newest last. */
  frames: number[];
  /** Show something else, and draw once before the next frame. */
  change(next: Partial<Shown>): void;
  /** Draw now, at the end of `change`'s frame. */
  draw(): void;
}

const KEPT_FRAMES = 600;

export function player(given: Given, draw: (player: Player) => void): Player {
  const runs = given.runs.map(read);
  const [from, to] = span(runs);
  const at = Math.min(to, Math.max(from, given.at ?? to));
  let due = false;
  let before = 0;
  const made: Player = {
    runs,
    given,
    whole: { from, to },
    shown: {
      t: at,
      view: { from, to },
      playing: false,
      speed: SPEEDS.indexOf(1),
      lit: null,
      hovered: null,
      pinned: null,
      range: null,
      loop: false,
      pointer: null,
    },
    frames: [],
    change(next) {
      Object.assign(made.shown, next);
      if (!due) requestAnimationFrame(frame);
      due = true;
    },
    draw() {
      const began = performance.now();
      draw(made);
      made.frames.push(performance.now() - began);
      if (made.frames.length > KEPT_FRAMES) made.frames.shift();
    },
  };
  function frame(now: number): void {
    due = false;
    if (made.shown.playing) {
      advance(made, before ? now - before : 0);
      made.change({});
    }
    before = made.shown.playing ? now : 0;
    made.draw();
  }
  return made;
}

/** Let so many milliseconds pass on the clock. */
function advance({ shown, whole }: Player, milliseconds: number): void {
  const rate = ((whole.to - whole.from) / WHOLE) * SPEEDS[shown.speed];
  const { from, to } = shown.range ?? whole;
  // The end is seen for a frame before the beginning follows it.
  const next = shown.loop && shown.t >= to ? from : shown.t + (rate * milliseconds) / 1000;
  shown.t = Math.min(to, next);
  shown.view = following(shown.view, shown.t, whole);
  if (shown.t === to && !shown.loop) shown.playing = false;
}

/** Play, from the beginning where it is at the end or outside the range; or pause. */
export function playOrPause({ shown, whole, change }: Player): void {
  const { from, to } = shown.range ?? whole;
  const isInside = from <= shown.t && shown.t < to;
  change({ playing: !shown.playing, t: shown.playing || isInside ? shown.t : from });
}

/** Go to an instant, and have it on screen. */
export function seek({ shown, whole, change }: Player, t: number): void {
  const at = Math.min(whole.to, Math.max(whole.from, t));
  change({ t: at, playing: false, view: following(shown.view, at, whole) });
}

/** Whether a server stands behind the page, which has every window of a long run. */
const isServed = ({ given }: Player) => given.version !== "";

/** Whether there are other windows of the runs to go to. */
export const canPage = (player: Player) =>
  isServed(player) && (player.given.earlier !== null || player.given.later !== null);

/** Have the server show the window at an instant; nothing where there is none. */
export function pageTo(player: Player, at: number | null): void {
  if (at !== null && isServed(player)) location.search = `?at=${at}`;
}

const eventsOf = new WeakMap<Player, Float64Array>();

/** Go on by so many instants at which something begins or ends, or back. */
export function step(player: Player, by: number): void {
  let all = eventsOf.get(player);
  if (!all) eventsOf.set(player, (all = events(player.runs)));
  const { t } = player.shown;
  const passed = countUpTo(all, t);
  const at = by > 0 ? passed + by - 1 : passed + by - (all[passed - 1] < t ? 0 : 1);
  seek(player, all[Math.min(all.length - 1, Math.max(0, at))]);
}

/** How fast the clock runs, as it is said: "3.5 µs a second". */
export function pace({ shown, whole }: Player): string {
  const rate = (((whole.to - whole.from) / WHOLE) * SPEEDS[shown.speed]) / 1000;
  return tr("{rate} µs a second", {
    rate: rate < 10 ? rate.toPrecision(2) : Math.round(rate).toLocaleString("en"),
  });
}
