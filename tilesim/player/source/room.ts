/** Room: how large the pictures of runs are. In a frame, and where a page is compact, all runs share 560 px. */

/** CSS pixels of the highest page in a frame. */
export const FRAME = 560;

/** CSS pixels of the pictures of a run: at most, at least; and of what is around all runs, and around each. */
const LARGEST = 272;
const LEAST = 64;
const aroundAll = () => (isNarrow() ? 270 : 230);
const AROUND_EACH = 84;

/** CSS pixels between the tiles of a run and its lanes. */
const APART = 24;

/** Whether the page is part of another one, or looks as if it were; and whether it shows the lanes alone. */
export const isFramed = () => has("framed");
export const isCompact = () => has("compact");
/** Whether things are stacked; as in the style sheet. */
export const isNarrow = () => matchMedia("(max-width: 600px)").matches;
/** Whether tiles are shown beside or above the lanes; as in the style sheet. */
export const showsTiles = () => !isCompact() && !(isFramed() && isNarrow());

/** CSS pixels of the pictures of each of so many runs. */
export function room(runs: number): number {
  if (!isFramed()) return LARGEST;
  return Math.min(LARGEST, Math.max(LEAST, Math.floor((FRAME - aroundAll()) / runs) - AROUND_EACH));
}

/** CSS pixels left of the lanes. */
export const leftOfLanes = (runs: number) => (showsTiles() && !isNarrow() ? room(runs) + APART : 0);

const has = (name: string) => document.documentElement.classList.contains(name);
