/** Frame: what a page in a frame and the page around it tell each other, its height and its theme. */

import { FRAME } from "./room";

/** Let the page around this one give its frame the height that this needs, at most FRAME. */
export function tellHeight(): void {
  const tell = () => {
    const tilesimHeight = Math.min(FRAME, document.documentElement.offsetHeight);
    parent.postMessage({ tilesimHeight }, "*");
  };
  // Out of view nothing is laid out, but the page around waits for a word.
  tell();
  new ResizeObserver(tell).observe(document.documentElement);
}

/** Take the theme of the page around this one, whenever it tells that. */
export function followTheme(changed: () => void): void {
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || !["dark", "light"].includes(data?.tilesimTheme)) return;
    document.documentElement.dataset.theme = data.tilesimTheme;
    changed();
  });
}
