/** The page's program: it reads the data in the page, puts the player into it, and draws. */

import { addressOf, optionsIn, shownIn } from "./address";
import { autoplay } from "./autoplay";
import { inkOn, legible, smColours } from "./colours";
import { card } from "./card";
import { controls } from "./controls";
import { read, type Given } from "./data";
import { element, type Part } from "./dom";
import { followTheme, tellHeight } from "./frame";
import { keys, keyTable } from "./keys";
import { lagStrip } from "./lag";
import { legend } from "./legend";
import { panel } from "./panel";
import { player, type Player } from "./player";
import { reloadOnChange } from "./reload";
import { room } from "./room";
import { find } from "./search";
import { counts, errorAt, lagAt, progress, segmentPhase, tilePhases } from "./state";
import { totals } from "./totals";
import { speak, tr } from "./words";

/** The player of this page; null where it only says what is wrong with its traces. */
function start(): Player | null {
  const given: Given = JSON.parse(document.getElementById("data")!.textContent!);
  if (given.version) reloadOnChange(given.version);
  if (!given.runs.length) return null;
  speak(given.words);
  const root = document.getElementById("player")!;
  const parts: Part[] = [];
  const made = player(given, () => parts.forEach((part) => part.draw()));
  const { classList, dataset } = document.documentElement;
  const options = optionsIn(location.hash);
  const isInFrame = parent !== window;
  classList.toggle("framed", isInFrame || options.compact);
  classList.toggle("compact", options.compact);
  const followsTheme = !dataset.theme && !options.theme;
  if (options.theme) dataset.theme = options.theme;
  parts.push(legend(made), ...(given.lag ? [lagStrip(made, given.lag)] : []));
  parts.push(...made.runs.map((_, number) => panel(made, number)));
  parts.push(controls(made), card(made));
  root.append(...parts.map((part) => part.element), help());
  keys(made);

  const restore = () => made.change(shownIn(location.hash, made.runs, made.whole));

  const refit = () => {
    root.style.setProperty("--pictures", `${room(made.runs.length)}px`);
    parts.forEach((part) => part.refit?.());
    made.change({});
  };
  new ResizeObserver(refit).observe(root);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refit);
  printAsPoster(made, refit);
  if (isInFrame) tellHeight();
  if (isInFrame && followsTheme) followTheme(refit);
  addEventListener("hashchange", restore);
  restore();
  refit();
  if (options.autoplay) autoplay(made, root);
  return made;
}

/** Paper shows the end of the whole run, as the film's poster does; its colours are the style sheet's. */
function printAsPoster(made: Player, refit: () => void): void {
  let before: Player["shown"] | null = null;
  matchMedia("print").addEventListener("change", ({ matches }) => {
    if (matches && !before) {
      before = { ...made.shown };
      made.change({
        t: made.whole.to,
        view: { ...made.whole },
        lit: null,
        pinned: null,
        hovered: null,
        playing: false,
      });
    } else if (!matches && before) {
      made.change(before);
      before = null;
    }
    refit();
    made.draw();
  });
}

function help(): HTMLElement {
  const rows = keyTable().map(([key, what]) =>
    element("div", {}, element("dt", {}, key), element("dd", {}, what)),
  );
  const wheel = element(
    "p",
    {},
    tr("Click a lane or a tile to pin it. Ctrl and the wheel, or a pinch, zooms; a drag moves."),
  );
  return element(
    "details",
    { class: "keys" },
    element("summary", {}, tr("Keys and gestures")),
    wheel,
    element("dl", {}, ...rows),
  );
}

const state = { read, counts, progress, segmentPhase, tilePhases, lagAt, errorAt, totals, find };
const colours = { smColours, legible, inkOn };
const address = { shownIn, addressOf };
/** For whoever drives or tests the player: its pure functions, and the player of this page. */
Object.assign(globalThis, {
  tilesim: { ...state, ...colours, ...address, player: typeof document === "undefined" ? null : start() },
});
