/** Lanes: what each slot does, a bar each, time to the right. What has not happened yet is faint. */

import type { Palette } from "./colours";
import type { Run } from "./data";
import { AXIS, GUTTER, lanesHeight, xAt, type LaneBox } from "./lanebox";
import type { LanePicture, Subject } from "./lanepicture";
import { inMicroseconds, ticks, type View } from "./timeline";

/** Opacity of what is still to come; CSS pixels at least from one name to the next. */
const FAINT = 0.22;
const NAME = 17;

/** Draw a picture of lanes at an instant: the past, the future faint, a cursor, and the axis if wanted. */
export function drawLanes(
  context: CanvasRenderingContext2D,
  picture: LanePicture,
  { run, box, view, colours }: Subject,
  t: number,
  axis: boolean,
): void {
  const high = lanesHeight(box);
  context.clearRect(0, 0, GUTTER + box.width, high + AXIS);
  context.fillStyle = colours.css.idle;
  box.lanes.forEach((_, index) =>
    context.fillRect(GUTTER, index * (box.lane + box.gap), box.width, box.lane),
  );
  const { canvas } = picture;
  const past = Math.min(1, Math.max(0, (t - view.from) / (view.to - view.from)));
  const cut = Math.round(past * canvas.width);
  const at = GUTTER + (cut / canvas.width) * box.width;
  context.imageSmoothingEnabled = false;
  if (cut > 0) context.drawImage(canvas, 0, 0, cut, canvas.height, GUTTER, 0, at - GUTTER, high);
  context.globalAlpha = FAINT;
  if (cut < canvas.width) {
    context.drawImage(
      canvas,
      cut,
      0,
      canvas.width - cut,
      canvas.height,
      at,
      0,
      GUTTER + box.width - at,
      high,
    );
  }
  context.globalAlpha = 1;
  nameLanes(context, run, box, colours);
  if (axis) drawAxis(context, box, view, high, colours);
  if (view.from <= t && t <= view.to) {
    context.fillStyle = colours.css.cursor;
    context.fillRect(Math.min(at, GUTTER + box.width - 2), 0, 2, high);
  }
}

function nameLanes(context: CanvasRenderingContext2D, run: Run, box: LaneBox, colours: Palette): void {
  const pitch = box.lane + box.gap;
  const every = Math.max(1, Math.ceil(NAME / pitch));
  const step = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].find((n) => n >= every) ?? 1024;
  context.font = '11px "DejaVu Sans", sans-serif';
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillStyle = colours.css.quiet;
  for (let index = 0; index < box.lanes.length; index += step) {
    const [sm, slot] = [Math.floor(box.lanes[index] / run.slotsPerSm), box.lanes[index] % run.slotsPerSm];
    const words = run.slotsPerSm > 1 && step === 1 ? `SM ${sm}.${slot}` : `SM ${sm}`;
    context.fillText(words, GUTTER - 8, Math.max(6, index * pitch + box.lane / 2));
  }
}

function drawAxis(
  context: CanvasRenderingContext2D,
  box: LaneBox,
  view: View,
  top: number,
  colours: Palette,
): void {
  context.font = '11px "DejaVu Sans Mono", monospace';
  context.textBaseline = "top";
  context.textAlign = "center";
  context.fillStyle = colours.css.quiet;
  const right = GUTTER + box.width;
  for (const t of ticks(view, box.width / 90)) {
    const x = xAt(box, view, t);
    context.fillRect(x, top, 1, 4);
    if (x < right - 34) context.fillText(inMicroseconds(t, view.to - view.from), x, top + 7);
  }
  context.textAlign = "right";
  context.fillText("µs", right, top + 7);
}

/** Mark a range of time below the lanes, and its ends on them. */
export function markRange(
  context: CanvasRenderingContext2D,
  box: LaneBox,
  view: View,
  range: View,
  colours: Palette,
): void {
  const [left, right] = [range.from, range.to].map((t) =>
    Math.min(GUTTER + box.width, Math.max(GUTTER, xAt(box, view, t))),
  );
  const high = lanesHeight(box);
  context.fillStyle = colours.css.simulated;
  context.fillRect(left, high, right - left, 4);
  for (const x of [left, right]) context.fillRect(x - 1, 0, 2, high);
}

/** Outline a segment. */
export function outline(
  context: CanvasRenderingContext2D,
  run: Run,
  row: number,
  box: LaneBox,
  view: View,
  colour: string,
): void {
  const index = box.lanes.indexOf(run.sm[row] * run.slotsPerSm + run.slot[row]);
  if (index < 0) return;
  const [left, right] = [run.issue[row], run.done[row]].map((t) =>
    Math.min(GUTTER + box.width, Math.max(GUTTER, xAt(box, view, t))),
  );
  const top = index * (box.lane + box.gap);
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(left, top - 1, Math.max(3, right - left), Math.max(4, box.lane + 2));
}
