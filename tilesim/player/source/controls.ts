/** Controls: play, step, scrub, speed, zoom, what is lit; and the instant in words for a screen reader. */

import { button, element, type Part } from "./dom";
import { canPage, pace, pageTo, playOrPause, seek, step, type Player } from "./player";
import { SPEEDS, type Lit } from "./shown";
import { counts } from "./state";
import { zoomed } from "./timeline";
import { tr } from "./words";

export function controls(player: Player): Part {
  const { whole, change } = player;
  const play = button("▶", tr("Play"), () => playOrPause(player));
  play.classList.add("play");
  const scrub = element("input", {
    type: "range",
    class: "scrub",
    "aria-label": tr("Time"),
    min: String(whole.from),
    max: String(whole.to),
    step: "any",
  });
  scrub.addEventListener("input", () => seek(player, Number(scrub.value)));
  // No <output>: a screen reader would read out every frame of it.
  const clock = element("span", { class: "clock" });
  const speed = element("select", { "aria-label": tr("Speed") });
  SPEEDS.forEach((factor, n) => speed.append(element("option", { value: String(n) }, `×${factor}`)));
  speed.addEventListener("change", () => change({ speed: Number(speed.value) }));
  const pacing = element("span", { class: "pace" });
  const zoom = (factor: number) => () => change({ view: zoomed(player.shown.view, factor, middle(), whole) });
  const middle = () => {
    const { t, view } = player.shown;
    return view.from <= t && t <= view.to ? t : (view.from + view.to) / 2;
  };
  const { light, show } = lighting(player);
  const status = element("p", { role: "status", class: "unseen" });
  const made = element(
    "div",
    { class: "controls", role: "group", "aria-label": tr("Player") },
    element("div", { class: "row" }, clock, scrub),
    element(
      "div",
      { class: "row" },
      button("|◂", tr("To the beginning"), () => seek(player, whole.from)),
      button("◂", tr("Step back by an event"), () => step(player, -1)),
      play,
      button("▸", tr("Step on by an event"), () => step(player, 1)),
      button("▸|", tr("To the end"), () => seek(player, whole.to)),
      element("label", { class: "speed" }, speed, pacing),
      element(
        "span",
        { class: "zoom" },
        button("−", tr("Zoom out"), zoom(1 / 2)),
        button("+", tr("Zoom in"), zoom(2)),
        button(tr("Whole"), tr("Show the whole run"), () => change({ view: { ...whole } })),
      ),
      light,
      ...(canPage(player) ? [paging(player)] : []),
    ),
    status,
  );

  let spoken = "";
  function draw(): void {
    const { t, playing } = player.shown;
    const us = (t / 1000).toFixed(whole.to < 10_000 ? 3 : 2);
    clock.textContent = `${us} µs`;
    if (document.activeElement !== scrub || playing || Number(scrub.value) !== t) scrub.value = String(t);
    scrub.setAttribute("aria-valuetext", tr("{time} microseconds", { time: us }));
    play.textContent = playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", playing ? tr("Pause") : tr("Play"));
    play.title = playing ? tr("Pause") : tr("Play");
    speed.value = String(player.shown.speed);
    pacing.textContent = pace(player);
    show();
    if (!playing && us !== spoken) {
      spoken = us;
      status.textContent = `${tr("{time} microseconds", { time: us })}. ${player.runs.map((run) => inWords(player, run)).join(" ")}`;
    }
  }
  return { element: made, draw };
}

/** Go to the window of a long run before this one, or after it. */
function paging(player: Player): HTMLElement {
  const { earlier, later } = player.given;
  const to = (words: string, label: string, at: number | null) => {
    const made = button(words, label, () => pageTo(player, at));
    made.disabled = at === null;
    return made;
  };
  return element(
    "span",
    { class: "paging" },
    to(tr("◂ Earlier"), tr("The window before"), earlier),
    to(tr("Later ▸"), tr("The window after"), later),
  );
}

function inWords(player: Player, run: Player["runs"][number]): string {
  const { tilesDone, busySms } = counts(run, player.shown.t);
  const fields = { run: run.name, done: tilesDone, tiles: run.grid[0] * run.grid[1], busy: busySms };
  return run.items.length
    ? tr("{run}: {done} of {tiles} items done, {busy} SMs busy.", fields)
    : tr("{run}: {done} of {tiles} tiles done, {busy} SMs busy.", fields);
}

/** Choose an SM or a thread block by its number, to be lit in all panels. */
function lighting(player: Player) {
  const kind = element("select", { "aria-label": tr("Light up") });
  for (const [value, words] of [
    ["", tr("nothing")],
    ["sm", "SM"],
    ["block", tr("block")],
    ["tile", tr("tile")],
  ]) {
    kind.append(element("option", { value }, words));
  }
  const number = element("input", { type: "number", min: "0", value: "0", "aria-label": tr("Its number") });
  const choose = () => {
    const lit = kind.value
      ? { kind: kind.value, id: Math.max(0, Math.floor(Number(number.value) || 0)) }
      : null;
    player.change({ lit: lit as Lit });
  };
  kind.addEventListener("change", choose);
  number.addEventListener("input", choose);
  const show = () => {
    const { lit } = player.shown;
    kind.value = lit?.kind ?? "";
    number.hidden = !lit;
    if (lit && document.activeElement !== number) number.value = String(lit.id);
  };
  return {
    light: element("span", { class: "light" }, element("span", {}, tr("Light up")), kind, number),
    show,
  };
}
