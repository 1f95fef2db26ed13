/** Keys: what the keyboard does, wherever the focus is. */

import { pageTo, playOrPause, seek, step, type Player } from "./player";
import { beginRange, endRange } from "./range";
import { SPEEDS } from "./shown";
import { panned, zoomed } from "./timeline";
import { tr } from "./words";

/** What a table of keys beside the player says. */
export const keyTable = (): [string, string][] => [
  ["Space", tr("play or pause")],
  ["← →", tr("step by an event, with Shift by ten")],
  ["Home, End", tr("to the beginning, the end")],
  ["W S, + −", tr("zoom in, out")],
  ["A D", tr("earlier, later")],
  ["0", tr("the whole run")],
  [", .", tr("of a long run: the window before, after")],
  ["[ ]", tr("slower, faster")],
  ["↑ ↓", tr("on the lanes: from SM to SM")],
  ["L, B, T", tr("light up the pinned SM, block, tile")],
  ["I, O", tr("select a range: it begins here, ends here")],
  ["Esc", tr("unpin, then light up all, then select nothing")],
];

export function keys(player: Player): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    if (target.closest("select, summary, input[type=search]")) return;
    // Space presses a button that has the focus.
    if (event.key === " " && target.closest("button")) return;
    if (press(player, event.key, event.shiftKey)) event.preventDefault();
  });
}

function press(player: Player, key: string, shift: boolean): boolean {
  const { shown, whole, change } = player;
  const { view } = shown;
  const zoom = (factor: number) => change({ view: zoomed(view, factor, shown.t, whole) });
  const pan = (share: number) => change({ view: panned(view, share * (view.to - view.from), whole) });
  const pace = (by: number) => change({ speed: Math.min(SPEEDS.length - 1, Math.max(0, shown.speed + by)) });
  const light = (kind: "sm" | "block" | "tile") => {
    if (!shown.pinned) return;
    const run = player.runs[shown.pinned.run];
    const column = { sm: run.sm, block: run.cta, tile: run.tile }[kind];
    change({ lit: { kind, id: column[shown.pinned.row] } });
  };
  const actions: Record<string, () => void> = {
    " ": () => playOrPause(player),
    ArrowLeft: () => step(player, shift ? -10 : -1),
    ArrowRight: () => step(player, shift ? 10 : 1),
    Home: () => seek(player, whole.from),
    End: () => seek(player, whole.to),
    w: () => zoom(1.5),
    "+": () => zoom(1.5),
    "=": () => zoom(1.5),
    s: () => zoom(1 / 1.5),
    "-": () => zoom(1 / 1.5),
    a: () => pan(-0.2),
    d: () => pan(0.2),
    "0": () => change({ view: { ...whole } }),
    ",": () => pageTo(player, player.given.earlier),
    ".": () => pageTo(player, player.given.later),
    "[": () => pace(-1),
    "]": () => pace(1),
    l: () => light("sm"),
    b: () => light("block"),
    t: () => light("tile"),
    i: () => beginRange(player),
    o: () => endRange(player),
    Escape: () => change(shown.pinned ? { pinned: null } : shown.lit ? { lit: null } : { range: null }),
  };
  const action = actions[key.length === 1 ? key.toLowerCase() : key];
  action?.();
  return action !== undefined;
}
