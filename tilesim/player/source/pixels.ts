/** Pixels: rectangles of one colour, written straight into an image; a node a tile would be too slow. */

export interface Image {
  width: number;
  height: number;
  pixels: Uint32Array;
  data: ImageData;
}

/** An image of one colour, in `old` where that has the size. */
export function image(width: number, height: number, ground: number, old?: Image): Image {
  const fits = old && old.width === width && old.height === height;
  const data = fits ? old.data : new ImageData(width, height);
  const pixels = fits ? old.pixels : new Uint32Array(data.data.buffer);
  pixels.fill(ground);
  return { width, height, pixels, data };
}

/** Paints part of an image, in pixels; what lies outside is left out. */
type Paint = (on: Image, left: number, top: number, right: number, foot: number, colour: number) => void;

/** Fill the pixels from `left` to `right` and `top` to `foot`. */
export const fill: Paint = (on, left, top, right, foot, colour) => {
  const from = Math.max(0, left);
  const to = Math.min(on.width, right);
  if (to <= from) return;
  for (let y = Math.max(0, top); y < Math.min(on.height, foot); y++) {
    on.pixels.fill(colour, y * on.width + from, y * on.width + to);
  }
};

/** The same as thin stripes that rise to the right, every other of them. */
export const hatch: Paint = (on, left, top, right, foot, colour) => {
  const stripe = Math.max(2, Math.round((foot - top) / 8));
  for (let y = Math.max(0, top); y < Math.min(on.height, foot); y++) {
    for (let x = Math.max(0, left); x < Math.min(on.width, right); x++) {
      if (Math.floor((x + y) / stripe) % 2) on.pixels[y * on.width + x] = colour;
    }
  }
};

/** The frame of a rectangle, one pixel wide, inside it. */
export const frame: Paint = (on, left, top, right, foot, colour) => {
  fill(on, left, top, right, top + 1, colour);
  fill(on, left, foot - 1, right, foot, colour);
  fill(on, left, top, left + 1, foot, colour);
  fill(on, right - 1, top, right, foot, colour);
};
