/** Shown: the answer on the page, as the player in a frame, the figures and the plans. Text stays text. */

import { button, element } from "../../../tilesim/player/source/dom";
import type { Answer, Plan } from "./messages";

const part = (id: string) => document.getElementById(id)!;

/** Whether nothing was shown yet. */
export const isEmpty = () => part("results").hidden;

export function show({ command, plans = [], names = [], figures = {}, page = "" }: Answer): void {
  play(page);
  part("command").textContent = command ?? "";
  part("figures").replaceChildren(
    element("caption", {}, "Figures of each run"),
    ...rowsOf(
      ["figure", ...names],
      Object.entries(figures).map(([name, values]) => [name, ...values]),
    ),
  );
  part("plans").replaceChildren(...plans.map(planned));
  part("results").hidden = false;
  const save = part("save") as HTMLAnchorElement;
  URL.revokeObjectURL(save.href);
  save.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
}

/** Put a page into a new frame: in the one before, each would be a step for the reader to go back. */
function play(page: string): void {
  const before = part("player");
  const player = element("iframe", { id: "player", title: "Player", sandbox: "allow-scripts" });
  player.style.height = before.style.height;
  player.srcdoc = page;
  before.replaceWith(player);
}

/** Give the frame the height that the player in it asks for, up to the screen's, where it scrolls itself. */
export function followHeight(): void {
  addEventListener("message", ({ source, data }) => {
    const player = part("player") as HTMLIFrameElement;
    const high = data?.tilesimHeight;
    if (source === player.contentWindow && Number.isFinite(high)) player.style.height = `${high}px`;
  });
}

/** A button that puts the page's address where it can be pasted. */
export function copyButton(): void {
  const copy = button("Copy link", "Copy a link to what is shown", async () => {
    await navigator.clipboard.writeText(location.href).then(
      () => (copy.textContent = "Copied"),
      () => (copy.textContent = "The address bar has it"),
    );
    setTimeout(() => (copy.textContent = "Copy link"), 2000);
  });
  part("share").prepend(copy);
}

function planned({ name, sentence, rows }: Plan): HTMLElement {
  const table = element("table", {}, ...rowsOf(["thread block", "tiles"], rows));
  return element(
    "section",
    { class: "panel" },
    element("h2", {}, name),
    element("p", { class: "note" }, sentence),
    element("div", { class: "scroll", tabindex: "0", "aria-label": `Plan of ${name}` }, table),
  );
}

/** The head of a table, and its rows, each with a heading of its own. */
function rowsOf(heads: string[], rows: string[][]): HTMLElement[] {
  const head = element("tr", {}, ...heads.map((words) => element("th", { scope: "col" }, words)));
  const body = rows.map(([first, ...rest]) => {
    const cells = rest.map((text) => element("td", {}, text));
    return element("tr", {}, element("th", { scope: "row" }, first), ...cells);
  });
  return [element("thead", {}, head), element("tbody", {}, ...body)];
}
