/** Search: find a tile, a thread block, an SM or a work item by what it is called. */

import type { Run } from "./data";
import { element } from "./dom";
import { noun, rowOfTile } from "./pick";
import { seek, type Player } from "./player";
import type { Lit, Place } from "./shown";
import { tr } from "./words";

export interface Found {
  lit: NonNullable<Lit>;
  /** Its first segment, of an SM its first in the window. */
  place: Place;
}

/** What words such as "tile 7", "SM 3", "block 12", "7" or an item's name mean; null for nothing here. */
export function find(runs: Run[], words: string): Found | null {
  const [, called, number] = /^\s*([^\d]*?)[\s#]*(\d+)\s*$/.exec(words) ?? [];
  const kinds: [NonNullable<Lit>["kind"], string[]][] = [
    ["sm", ["sm"]],
    ["block", ["block", "cta", tr("block")]],
    ["tile", ["", "tile", "item", tr("tile"), tr("item")]],
  ];
  const name = words.trim().toLowerCase();
  for (const [run, { sm, cta, tile, items }] of runs.entries()) {
    const item = name ? items.findIndex((each) => each.toLowerCase() === name) : -1;
    const kind = item >= 0 ? "tile" : kinds.find(([, names]) => names.includes(called?.toLowerCase()))?.[0];
    if (!kind) continue;
    const id = item >= 0 ? item : Number(number);
    const row = { sm, block: cta, tile }[kind].indexOf(id);
    if (row >= 0) return { lit: { kind, id }, place: { run, row } };
  }
  return null;
}

/** A field that lights up what it finds, pins its segment, and goes to where that is on screen. */
export function searchField(player: Player) {
  const field = element("input", {
    type: "search",
    "aria-label": tr("Find a tile, a block or an SM"),
    title: tr("Find a tile, a block or an SM"),
    placeholder: `${noun(player.runs[0])} 7, SM 3`,
  });
  const none = element("span", { "aria-live": "polite" });
  field.addEventListener("input", () => {
    const found = find(player.runs, field.value);
    none.textContent = found || !field.value.trim() ? "" : tr("not found");
    player.change({ lit: found?.lit ?? null });
    if (!found || found.lit.kind === "sm") return;
    const { run, row } = found.place;
    const { t, view } = player.shown;
    const held = player.runs[run];
    const at = found.lit.kind === "tile" ? rowOfTile(held, found.lit.id, t) : row;
    if (held.done[at] < view.from || held.issue[at] > view.to) seek(player, held.start[at]);
    player.change({ pinned: { run, row: at }, pointer: null });
  });
  const show = () => {
    const { lit } = player.shown;
    if (document.activeElement === field) return;
    const names = { sm: "SM", block: tr("block"), tile: noun(player.runs[0]) };
    field.value = lit ? `${names[lit.kind]} ${lit.id}` : "";
    none.textContent = "";
  };
  return { search: element("span", { class: "search" }, field, none), show };
}
