/** Controls: play, step, scrub, speed, zoom, what is lit; and the instant in words for a screen reader. */

import { addressOf } from "./address";
import { button, element, type Part } from "./dom";
import { canPage, pace, pageTo, playOrPause, seek, step, type Player } from "./player";
import { beginRange, endRange, rangePart } from "./range";
import { searchField } from "./search";
import { SPEEDS } from "./shown";
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
  const range = rangePart(player);
  const { search, show } = searchField(player);
  const loop = button("⟳", tr("Repeat"), () => change({ loop: !player.shown.loop }));
  const link = element("a", { class: "link", target: parent === window ? "_self" : "_blank" }, tr("Link"));
  link.title = tr("Link to what is shown now");
  // A page that is written into a frame has no address of its own.
  link.hidden = location.protocol === "about:";
  const status = element("p", { role: "status", class: "unseen" });
  const made = element(
    "div",
    { class: "controls", role: "group", "aria-label": tr("Player") },
    range.element,
    element("div", { class: "row" }, clock, scrub),
    element(
      "div",
      { class: "row" },
      element(
        "span",
        { class: "step" },
        button("|◂", tr("To the beginning"), () => seek(player, whole.from)),
        button("◂", tr("Step back by an event"), () => step(player, -1)),
      ),
      play,
      element(
        "span",
        { class: "step" },
        button("▸", tr("Step on by an event"), () => step(player, 1)),
        button("▸|", tr("To the end"), () => seek(player, whole.to)),
      ),
      loop,
      element("label", { class: "speed" }, speed, pacing),
      element(
        "span",
        { class: "zoom" },
        button("−", tr("Zoom out"), zoom(1 / 2)),
        button("+", tr("Zoom in"), zoom(2)),
        button(tr("Whole"), tr("Show the whole run"), () => change({ view: { ...whole } })),
      ),
      element(
        "span",
        { class: "select" },
        button("[", tr("Select a range that begins here"), () => beginRange(player)),
        button("]", tr("Select a range that ends here"), () => endRange(player)),
      ),
      search,
      link,
      ...(canPage(player) ? [paging(player)] : []),
    ),
    status,
  );

  // While it plays, the address is made only when somebody is about to take it.
  const address = () => (link.href = addressOf(player.shown, whole));
  for (const act of ["pointerdown", "click"]) link.addEventListener(act, address);

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
    loop.setAttribute("aria-pressed", String(player.shown.loop));
    show();
    range.draw();
    if (!playing) address();
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
