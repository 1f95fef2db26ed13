/** Card: what is known of the segment under the pointer, or of the pinned one, beside which it stays. */

import { palette } from "./colours";
import { button, element, type Part } from "./dom";
import { facts, noun } from "./pick";
import type { Player } from "./player";
import { isNarrow } from "./room";
import type { Lit } from "./shown";
import { tr } from "./words";

/** CSS pixels from the pointer to the card, and that the card and the controls take at the foot. */
const APART = 24;
const HIGH = 460;

export function card(player: Player): Part {
  const body = element("div");
  const made = element("aside", { class: "card", "aria-label": tr("Segment"), "aria-live": "polite" }, body);
  made.hidden = true;
  let key = "";

  function draw(): void {
    const { hovered, pinned, lit } = player.shown;
    const place = pinned ?? hovered;
    moveTo(player.shown.pointer);
    const now = place ? [place.run, place.row, pinned === place, lit?.kind, lit?.id].join() : "";
    if (now === key) return;
    key = now;
    made.hidden = !place;
    if (!place) return;
    const run = player.runs[place.run];
    const { css, hues } = palette(made, run.sms);
    const rows = facts(run, place.row).map(({ what, value, role }) => {
      const swatch = element("i", { class: "swatch" });
      if (role === "multiply" || role === "load") {
        const hue = hues[run.sm[place.row]].join(" ");
        swatch.style.background = role === "load" ? `rgb(${hue} / 0.45)` : `rgb(${hue})`;
      } else if (role) swatch.style.background = css[role as keyof typeof css];
      return element("div", {}, element("dt", {}, ...(role ? [swatch] : []), what), element("dd", {}, value));
    });
    const heading = element("h3", {}, run.name);
    body.replaceChildren(
      heading,
      element("dl", {}, ...rows),
      ...(pinned ? [actions(place.run, place.row)] : []),
    );
  }

  /** Beside the pointer, on the side where there is room; the style sheet's place without one. */
  function moveTo(pointer: { x: number; y: number } | null): void {
    const free = pointer && !isNarrow();
    const right = free && pointer.x > innerWidth / 2;
    made.style.left = free && !right ? `${pointer.x + APART}px` : "";
    made.style.right = free && right ? `${innerWidth - pointer.x + APART}px` : "";
    made.style.top = free ? `${Math.max(8, Math.min(pointer.y - 40, innerHeight - HIGH))}px` : "";
  }

  function actions(number: number, row: number): HTMLElement {
    const run = player.runs[number];
    const choices: [string, Lit][] = [
      [`SM ${run.sm[row]}`, { kind: "sm", id: run.sm[row] }],
      [`${tr("block")} ${run.cta[row]}`, { kind: "block", id: run.cta[row] }],
      [`${noun(run)} ${run.tile[row]}`, { kind: "tile", id: run.tile[row] }],
    ];
    const buttons = choices.map(([words, choice]) => {
      const on = player.shown.lit?.kind === choice?.kind && player.shown.lit?.id === choice?.id;
      const made = button(words, tr("Light up {what} in all panels", { what: words }), () =>
        player.change({ lit: on ? null : choice }),
      );
      made.setAttribute("aria-pressed", String(on));
      return made;
    });
    const unpin = button(tr("Unpin"), tr("Unpin"), () => player.change({ pinned: null }));
    return element("div", { class: "actions" }, element("span", {}, tr("Light up")), ...buttons, unpin);
  }

  return { element: made, draw };
}
