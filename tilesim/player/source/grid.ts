/** Grid: the tiles of C, or a list of work items, hollow at first, filled from the left by K-steps, edged while they are written. */

import { inkOn, packed, type Palette } from "./colours";
import type { Run } from "./data";
import { fill, frame, image, type Image } from "./pixels";
import { isLit, type Lit } from "./shown";
import { Phase, progress, segmentPhase } from "./state";

/** Device pixels of a cell, from which tiles stand apart, and have an edge. */
const APART = 5;
/** CSS pixels of a cell, from which it holds its number. */
const ROOM_FOR_NUMBER = [30, 14];
/** CSS pixels of a work item in a list of them. */
const ITEM_HEIGHT = 18;

/** Where the grid is, in CSS pixels: C in its true proportions, unless they are extreme. */
export interface GridBox {
  width: number;
  height: number;
}

export function gridBox(run: Run, most: number): GridBox {
  if (run.items.length) return { width: most, height: Math.min(1.5 * most, ITEM_HEIGHT * run.items.length) };
  const [high, wide] = [run.grid[0] * run.tileShape[0], run.grid[1] * run.tileShape[1]];
  const ratio = Math.min(5, Math.max(0.2, wide / high));
  return ratio > 1 ? { width: most, height: most / ratio } : { width: most * ratio, height: most };
}

/** The pixels of the grid at an instant. */
export function gridImage(
  run: Run,
  box: GridBox,
  t: number,
  colours: Palette,
  lit: Lit,
  scale: number,
  old?: Image,
): Image {
  const ground = packed(colours.rgb.idle);
  const [rows, columns] = run.grid;
  const wide = Math.max(1, Math.round(box.width * scale));
  const high = Math.max(1, Math.round(box.height * scale));
  const apart = Math.min(wide / columns, high / rows) >= APART ? Math.max(1, Math.round(scale)) : 0;
  const on = image(wide, high, apart ? packed(colours.rgb.panel) : ground, old);
  const cell = (tile: number): [number, number, number, number] => {
    const [row, column] = [Math.floor(tile / columns), tile % columns];
    const [left, top] = [Math.floor((column * wide) / columns), Math.floor((row * high) / rows)];
    const right = Math.max(left + 1, Math.floor(((column + 1) * wide) / columns) - apart);
    return [left, top, right, Math.max(top + 1, Math.floor(((row + 1) * high) / rows) - apart)];
  };
  for (let tile = 0; apart && tile < rows * columns; tile++) fill(on, ...cell(tile), ground);
  for (let row = 0; row < run.count && run.issue[row] <= t; row++) {
    const share = progress(run, row, t);
    if (!share) continue;
    const [left, top, right, foot] = cell(run.tile[row]);
    const paint = isLit(lit, run, row) ? colours.lit : colours.dimmed;
    const x = (k: number) => left + Math.round(((right - left) * k) / run.kSteps);
    const end = x(run.k0[row] + share * (run.k1[row] - run.k0[row]));
    fill(on, x(run.k0[row]), top, end, foot, paint.multiply[run.sm[row]]);
    const phase = segmentPhase(run, row, t);
    if (apart && phase > Phase.Multiplying && phase < Phase.Done)
      frame(on, left, top, right, foot, paint.write);
  }
  return on;
}

/** Write each tile's number into it where cells have room, in an ink that its fill so far lets one read. */
export function numberTiles(
  context: CanvasRenderingContext2D,
  run: Run,
  box: GridBox,
  t: number,
  colours: Palette,
  lit: Lit,
): void {
  const [rows, columns] = run.grid;
  const [wide, high] = [box.width / columns, box.height / rows];
  if (wide < ROOM_FOR_NUMBER[0] || high < ROOM_FOR_NUMBER[1]) return;
  context.font = '11px "DejaVu Sans Mono", monospace';
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let row = 0; row < run.count; row++) {
    // The number stands in the middle, so of a tile's segments it is on the one that is there.
    const middle = run.kSteps / 2;
    if (run.k0[row] > middle || run.k1[row] <= middle) continue;
    const filled = run.k0[row] + progress(run, row, t) * (run.k1[row] - run.k0[row]) > middle;
    context.fillStyle = filled && isLit(lit, run, row) ? inkOn(colours.hues[run.sm[row]]) : colours.css.quiet;
    const tile = run.tile[row];
    context.fillText(
      run.items[tile] ?? String(tile),
      ((tile % columns) + 0.5) * wide,
      (Math.floor(tile / columns) + 0.5) * high,
      0.95 * wide,
    );
  }
}

/** The tile at a point of the grid; -1 outside. */
export function tileAt(run: Run, box: GridBox, x: number, y: number): number {
  const [rows, columns] = run.grid;
  const [row, column] = [Math.floor((y / box.height) * rows), Math.floor((x / box.width) * columns)];
  return row >= 0 && row < rows && column >= 0 && column < columns ? row * columns + column : -1;
}

/** Outline a tile. */
export function outlineTile(
  context: CanvasRenderingContext2D,
  run: Run,
  tile: number,
  box: GridBox,
  colour: string,
): void {
  const [rows, columns] = run.grid;
  const [wide, high] = [box.width / columns, box.height / rows];
  context.strokeStyle = colour;
  context.lineWidth = 2;
  const [x, y] = [(tile % columns) * wide, Math.floor(tile / columns) * high];
  context.strokeRect(x, y, Math.max(4, wide), Math.max(4, high));
}
