/** Shown: the answer on the page, as the player in a frame, the figures and the plans. Text stays text. */

import { button, element } from "../../../tilesim/player/source/dom";
import type { Answer, Plan } from "./messages";

const part = (id: string) => document.getElementById(id)!;

export function show({ command, plans = [], names = [], figures = {}, page = "" }: Answer): void {
  const player = part("player") as HTMLIFrameElement;
  player.srcdoc = page;
  part("command").textContent = command ?? "";
  part("figures").replaceChildren(
    element("caption", {}, "Figures of each run"),
    row("th", ["", ...names]),
    ...Object.entries(figures).map(([name, values]) => row("td", [name, ...values])),
  );
  part("plans").replaceChildren(...plans.map(planned));
  part("results").hidden = false;
  const save = part("save") as HTMLAnchorElement;
  URL.revokeObjectURL(save.href);
  save.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
}

/** Give the frame the height that the player in it asks for, up to the screen's, where it scrolls itself. */
export function followHeight(): void {
  const player = part("player") as HTMLIFrameElement;
  addEventListener("message", ({ source, data }) => {
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
  const table = element(
    "table",
    {},
    row("th", ["thread block", "tiles"]),
    ...rows.map((cells) => row("td", cells)),
  );
  return element(
    "section",
    { class: "panel" },
    element("h2", {}, name),
    element("p", { class: "note" }, sentence),
    element("div", { class: "scroll", tabindex: "0", "aria-label": `Plan of ${name}` }, table),
  );
}

/** A row of a table: a heading and values, or headings alone. */
function row(kind: "th" | "td", [first, ...rest]: string[]): HTMLElement {
  const head = element("th", { scope: kind === "th" ? "col" : "row" }, first);
  const cells = rest.map((text) =>
    kind === "th" ? element("th", { scope: "col" }, text) : element("td", {}, text),
  );
  return element("tr", {}, head, ...cells);
}
