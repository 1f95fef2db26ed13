/** Lane picture: what lanes show in a view, painted once, kept until something but the instant changes. */

import { inkOn, type Palette } from "./colours";
import type { Run } from "./data";
import { areTall, type LaneBox } from "./lanebox";
import { fill, hatch, image, type Image } from "./pixels";
import { isLit, type Lit } from "./shown";
import type { View } from "./timeline";

/** CSS pixels at least from one K-step's tick to the next; device pixels of the dark edges of a launch. */
const TICK_APART = 12;
const EDGE = 2;

export interface LanePicture {
  canvas: HTMLCanvasElement;
  pixels?: Image;
  key: string;
}

/** What a picture is of. `scale`: device pixels in a CSS pixel. */
export interface Subject {
  run: Run;
  box: LaneBox;
  view: View;
  colours: Palette;
  lit: Lit;
  scale: number;
}

/** A subject while it is painted. `x`: the device pixel of a time; `lane`, `pitch`: device pixels. */
interface Painting extends Subject {
  on: Image;
  x(t: number): number;
  lane: number;
  pitch: number;
}

/** Paint the lanes into `picture`, unless its key says that this has been done. */
export function paintLanes(picture: LanePicture, key: string, subject: Subject): void {
  if (picture.key === key) return;
  picture.key = key;
  const { run, box, view, scale } = subject;
  const width = Math.round(box.width * scale);
  const pitch = Math.max(1, Math.round((box.lane + box.gap) * scale));
  const lane = box.gap ? Math.round(box.lane * scale) : pitch;
  const on = image(width, pitch * box.lanes.length, 0, picture.pixels);
  const x = (t: number) => Math.round(((t - view.from) / (view.to - view.from)) * width);
  const painting = { ...subject, on, x, lane, pitch };
  box.lanes.forEach((slot, index) => paintLane(painting, run.rowsOf.get(slot) ?? [], index * pitch));
  picture.pixels = on;
  picture.canvas.width = on.width;
  picture.canvas.height = on.height;
  const context = picture.canvas.getContext("2d")!;
  context.putImageData(on.data, 0, 0);
  if (areTall(box)) writeNumbers(context, painting);
}

/** Paint one lane; `rows` are its segments in order of their start. */
function paintLane(painting: Painting, rows: number[], top: number): void {
  const { on, run, box, view, x, lit, colours, lane } = painting;
  const foot = top + lane;
  rows.forEach((row, n) => {
    if (run.issue[row] > view.to || run.done[row] < view.from) return;
    const paint = isLit(lit, run, row) ? colours.lit : colours.dimmed;
    const hue = paint.multiply[run.sm[row]];
    const [issue, start] = [x(run.issue[row]), x(run.start[row])];
    const [drain, fixup] = [x(run.drain[row]), x(run.fixup[row])];
    if (run.ready[row] > run.drain[row]) fill(on, drain, top, x(run.ready[row]), foot, paint.wait);
    if (run.fixup[row] > run.ready[row]) fill(on, x(run.ready[row]), top, fixup, foot, paint.fixUp);
    fill(on, fixup, top, x(run.done[row]), foot, paint.write);
    if (run.opens[row]) {
      const load = x(run.load[row]);
      fill(on, issue, top, load, foot, paint.launch);
      if (areTall(box)) {
        hatch(on, load, top, start, foot, hue);
        fill(on, issue - EDGE, top, issue, foot, paint.edge);
        fill(on, load, top, load + EDGE, foot, paint.edge);
      } else {
        // A hatch would alias.
        fill(on, load, top, start, foot, paint.load[run.sm[row]]);
      }
    } else {
      fill(on, issue, top, start, foot, paint.handOver);
    }
    fill(on, start, top, Math.max(start + 1, drain), foot, hue);
    if (n > 0) paintWriteUnder(painting, rows[n - 1], row, top);
  });
}

/** A write goes on under the main loop that follows it: as its lower third, or mixed into a thin lane. */
function paintWriteUnder(
  { on, run, box, x, lit, colours, lane }: Painting,
  before: number,
  row: number,
  top: number,
) {
  const from = Math.max(run.fixup[before], run.issue[row]);
  const to = Math.min(run.done[before], run.drain[row]);
  if (to <= from) return;
  const paint = isLit(lit, run, before) ? colours.lit : colours.dimmed;
  const foot = top + lane;
  if (areTall(box)) fill(on, x(from), foot - Math.floor(lane / 3), x(to), foot, paint.write);
  else fill(on, x(from), top, x(to), foot, paint.writeUnder[run.sm[row]]);
}

/** The tile's number in each main loop, and a thin line a K-step, where there is room. */
function writeNumbers(
  context: CanvasRenderingContext2D,
  { run, box, view, colours, x, lane, pitch, scale }: Painting,
): void {
  context.font = `${Math.round(Math.min(13, box.lane * 0.55) * scale)}px "DejaVu Sans Mono", monospace`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  box.lanes.forEach((slot, index) => {
    for (const row of run.rowsOf.get(slot) ?? []) {
      if (run.start[row] > view.to || run.drain[row] < view.from) continue;
      const [start, drain] = [x(run.start[row]), x(run.drain[row])];
      const steps = run.k1[row] - run.k0[row];
      const step = (drain - start) / steps;
      context.fillStyle = "rgb(13 17 23 / 0.35)";
      for (let k = 1; step >= TICK_APART * scale && k < steps; k++) {
        context.fillRect(Math.round(start + k * step), index * pitch, 1, lane);
      }
      const [left, right] = [Math.max(0, start), Math.min(context.canvas.width, drain)];
      const words = String(run.tile[row]);
      if (context.measureText(words).width + 6 * scale > right - left) continue;
      context.fillStyle = inkOn(colours.hues[run.sm[row]]);
      context.fillText(words, (left + right) / 2, index * pitch + lane * 0.45);
    }
  });
}
