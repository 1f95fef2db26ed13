/** Tile part: the grid of a run's tiles in its panel, drawn, hovered and clicked. */

import { palette, type Palette } from "./colours";
import { canvas, sized, type Part } from "./dom";
import { gestures } from "./gestures";
import { gridBox, gridImage, numberTiles, outlineTile, tileAt } from "./grid";
import { rowOfTile } from "./pick";
import type { Image } from "./pixels";
import type { Player } from "./player";
import { isNarrow, room, showsTiles } from "./room";
import { tr } from "./words";

export function tilePart(player: Player, number: number): Part {
  const run = player.runs[number];
  const made = canvas(tr("Tiles of {run}", { run: run.name }));
  const buffer = document.createElement("canvas");
  let pixels: Image | undefined;
  let colours: Palette;
  let box = gridBox(run, room(player.runs.length));

  gestures(player, made, {
    time: () => player.shown.t,
    place(x, y) {
      const tile = tileAt(run, box, x, y);
      const row = tile < 0 ? -1 : rowOfTile(run, tile, player.shown.t);
      return row < 0 ? null : { run: number, row };
    },
    isAxis: () => false,
    still: true,
  });

  function refit(): void {
    colours = palette(made, run.sms);
    const most = room(player.runs.length);
    box = gridBox(run, isNarrow() ? Math.min(most, made.parentElement!.clientWidth) : most);
    made.hidden = !showsTiles();
  }

  function draw(): void {
    if (made.hidden) return;
    const { t, lit, hovered, pinned } = player.shown;
    const context = sized(made, box.width, box.height);
    pixels = gridImage(run, box, t, colours, lit, window.devicePixelRatio || 1, pixels);
    buffer.width = pixels.width;
    buffer.height = pixels.height;
    buffer.getContext("2d")!.putImageData(pixels.data, 0, 0);
    context.drawImage(buffer, 0, 0, box.width, box.height);
    numberTiles(context, run, box, t, colours, lit);
    // A tile is outlined in every panel that has the same tiles, a segment in the lanes of its own.
    for (const place of [hovered, pinned]) {
      const other = place && player.runs[place.run];
      if (other && String(other.tileShape) === String(run.tileShape)) {
        outlineTile(context, run, other.tile[place.row], box, colours.css.cursor);
      }
    }
  }

  return { element: made, draw, refit };
}
