/** Gestures: hover, click, drag, wheel and pinch on a canvas, by mouse, pen or finger. */

import { seek, type Player } from "./player";
import { selected } from "./range";
import type { Place } from "./shown";
import { panned, zoomed } from "./timeline";

/** What lies where on a canvas, in its CSS pixels. `still`: it has no time that could be zoomed. */
export interface Surface {
  time(x: number): number;
  place(x: number, y: number): Place | null;
  isAxis(y: number): boolean;
  still?: boolean;
}

/** Pixels that a pointer moves before a click becomes a drag; and what a notch of a wheel zooms by. */
const DRAG = 5;
const NOTCH = 0.0016;

interface Pointer {
  x: number;
  y: number;
}

export function gestures(player: Player, canvas: HTMLCanvasElement, surface: Surface): void {
  const down = new Map<number, Pointer>();
  let moved = false;
  let scrubbing = false;
  /** The instant at which a drag with Shift began to select a range. */
  let since: number | null = null;
  const at = (event: MouseEvent): Pointer => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const point = at(event);
    down.set(event.pointerId, point);
    canvas.setPointerCapture(event.pointerId);
    moved = down.size > 1;
    since = event.shiftKey && !surface.still ? surface.time(point.x) : null;
    scrubbing = since === null && surface.isAxis(point.y);
    if (scrubbing) seek(player, surface.time(point.x));
  });
  canvas.addEventListener("pointermove", (event) => {
    const point = at(event);
    const before = down.get(event.pointerId);
    if (!before) return player.change({ hovered: surface.place(point.x, point.y), ...pointerOf(event) });
    if (!moved && Math.hypot(point.x - before.x, point.y - before.y) < DRAG) return;
    moved = true;
    if (since !== null) player.change({ range: clipped(since, surface.time(point.x)) });
    else if (scrubbing) seek(player, surface.time(point.x));
    else if (!surface.still) drag(event.pointerId, before, point);
    down.set(event.pointerId, point);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (down.delete(event.pointerId) && !moved && !scrubbing) {
      const { x, y } = at(event);
      player.change({
        pinned: surface.place(x, y),
        hovered: null,
        pointer: { x: event.clientX, y: event.clientY },
      });
    }
  });
  canvas.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => player.change({ hovered: null }));
  canvas.addEventListener(
    "wheel",
    (event) => {
      // A plain wheel scrolls the page, unless the canvas was clicked; a pinch on a pad says Ctrl.
      const meant = event.ctrlKey || event.metaKey || document.activeElement === canvas;
      if (surface.still || !meant) return;
      event.preventDefault();
      const { view } = player.shown;
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      const perPixel = surface.time(1) - surface.time(0);
      const next = sideways
        ? panned(view, event.deltaX * perPixel, player.whole)
        : zoomed(view, Math.exp(-event.deltaY * NOTCH), surface.time(at(event).x), player.whole);
      player.change({ view: next });
    },
    { passive: false },
  );

  const clipped = (...times: [number, number]) => {
    const [one, other] = times.map((t) => Math.min(player.whole.to, Math.max(player.whole.from, t)));
    return selected(one, other);
  };

  /** A pinned card stays where it was pinned. */
  function pointerOf({ clientX: x, clientY: y }: PointerEvent): { pointer?: Pointer } {
    return player.shown.pinned ? {} : { pointer: { x, y } };
  }

  /** Move the timeline with one pointer; with two, keep under each the time that was there. */
  function drag(id: number, before: Pointer, point: Pointer): void {
    const { view } = player.shown;
    const other = [...down].find(([each]) => each !== id)?.[1];
    if (!other) {
      player.change({ view: panned(view, surface.time(before.x) - surface.time(point.x), player.whole) });
      return;
    }
    const factor = Math.max(1, Math.abs(point.x - other.x)) / Math.max(1, Math.abs(before.x - other.x));
    player.change({ view: zoomed(view, factor, surface.time(other.x), player.whole) });
  }
}
