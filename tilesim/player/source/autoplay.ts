/** Autoplay: play while half of the page is on screen, until its reader does something. */

import { playOrPause, type Player } from "./player";

/** Nothing moves by itself for a reader who prefers reduced motion. */
export function autoplay(player: Player, root: HTMLElement): void {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const watch = new IntersectionObserver(
    (changes) => {
      // A busy page reports several changes at once; the last is what holds now.
      const { isIntersecting } = changes[changes.length - 1];
      if (isIntersecting !== player.shown.playing) playOrPause(player);
    },
    { threshold: 0.5 },
  );
  watch.observe(root);
  for (const act of ["pointerdown", "keydown"])
    document.addEventListener(act, () => watch.disconnect(), { once: true });
}
