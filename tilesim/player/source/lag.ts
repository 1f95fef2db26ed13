/** Lag: how far simulation and silicon are apart at the instant, in words and as a curve. */

import { palette, type Palette } from "./colours";
import type { Lag } from "./data";
import { canvas, element, sized, type Part } from "./dom";
import { GUTTER } from "./lanebox";
import type { Player } from "./player";
import { isNarrow, leftOfLanes } from "./room";
import { countUpTo, errorAt, lagAt } from "./state";
import { tr } from "./words";

const HEIGHT = 64;

export function lagStrip(player: Player, lag: Lag): Part {
  const words = element("p", { class: "error" });
  const curve = canvas(tr("By how much silicon is behind the simulation, over time"));
  const made = element(
    "section",
    { class: "lag", "aria-label": tr("Error of the simulation") },
    words,
    curve,
  );
  const most = Math.max(1, ...lag.lags.map(Math.abs));
  const end = lag.times[lag.times.length - 1];
  let colours: Palette;
  let width = 300;

  function draw(): void {
    const { t, view } = player.shown;
    const now = lagAt(lag, t);
    const error = errorAt(now, Math.min(t, end));
    const signed = `${error < 0 ? "−" : "+"}${(100 * Math.abs(error)).toFixed(1)} %`;
    const apart = { error: signed, time: (Math.abs(now) / 1000).toFixed(2) };
    words.textContent =
      now < 0
        ? tr("Error now {error}: the simulation is {time} µs behind", apart)
        : tr("Error now {error}: the silicon is {time} µs behind", apart);
    const context = sized(curve, width, HEIGHT);
    context.clearRect(0, 0, width, HEIGHT);
    const x = (time: number) => ((time - view.from) / (view.to - view.from)) * width;
    const y = (ns: number) => HEIGHT / 2 - (ns / most) * (HEIGHT / 2 - 4);
    context.fillStyle = colours.css.idle;
    context.fillRect(0, HEIGHT / 2, width, 1);
    context.strokeStyle = colours.css.text;
    context.lineWidth = 2;
    const reached = countUpTo(lag.times, t);
    const past = [...lag.lags.slice(0, reached).map((ns, n) => [lag.times[n], ns]), [Math.min(t, end), now]];
    const whole = lag.lags.map((ns, n) => [lag.times[n], ns]);
    for (const [points, alpha] of [
      [whole, 0.3],
      [past, 1],
    ] as const) {
      context.globalAlpha = alpha;
      context.beginPath();
      for (const [time, ns] of points) context.lineTo(x(time), y(ns));
      context.stroke();
    }
    context.fillStyle = colours.css.cursor;
    context.fillRect(x(t) - 1, 0, 2, HEIGHT);
  }

  function refit(): void {
    colours = palette(made, 1);
    // Above the time that the lanes below show there.
    const left = isNarrow() ? 0 : leftOfLanes(player.runs.length) + GUTTER;
    curve.style.marginLeft = `${left}px`;
    width = words.clientWidth - left;
  }

  return { element: made, draw, refit };
}
