/** Legend: what the colours of the lanes mean, of those phases that the runs have. */

import { palette } from "./colours";
import { element, type Part } from "./dom";
import { phasesOf } from "./pick";
import type { Player } from "./player";
import { tr } from "./words";

export function legend({ runs }: Player): Part {
  const seen = new Map<string, string>();
  for (const run of runs)
    for (let row = 0; row < run.count; row++)
      for (const { role, what } of phasesOf(run, row)) seen.set(role, what);
  const swatches = new Map<string, HTMLElement>();
  const made = element("ul", { class: "legend", "aria-label": tr("Legend") });
  for (const [role, what] of [...seen, ["idle", tr("Idle")]]) {
    const swatch = element("i", { class: "swatch" });
    swatches.set(role, swatch);
    made.append(
      element("li", {}, swatch, role === "multiply" ? tr("{what}, a colour an SM", { what }) : what),
    );
  }

  function refit(): void {
    const { css, hues } = palette(made, Math.min(6, runs[0].sms));
    const [first] = hues.map((hue) => `rgb(${hue.join(" ")})`);
    const each = 100 / hues.length;
    const stops = hues.map((hue, n) => `rgb(${hue.join(" ")}) ${n * each}% ${(n + 1) * each}%`);
    for (const [role, { style }] of swatches) {
      if (role === "multiply") style.background = `linear-gradient(to right, ${stops.join(", ")})`;
      else if (role === "load")
        style.background = `repeating-linear-gradient(135deg, ${first} 0 2px, transparent 2px 4px)`;
      else style.background = css[role as keyof typeof css];
    }
  }

  return { element: made, draw() {}, refit };
}
