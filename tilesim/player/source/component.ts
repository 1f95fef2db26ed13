/** Component: <tilesim-player src="race.html" compact loop> shows a page in a frame that adapts to it. */

const OPTIONS = ["compact", "loop", "autoplay", "theme", "speed", "start", "end", "at"];

/** Milliseconds from the load of a page until it must have said its height. */
const PATIENCE = 1000;

class TilesimPlayer extends HTMLElement {
  private gone = new AbortController();

  connectedCallback(): void {
    this.gone = new AbortController();
    const { signal } = this.gone;
    const frame = document.createElement("iframe");
    const [file, hash] = (this.getAttribute("src") ?? "").split("#");
    const asked = OPTIONS.filter((name) => this.hasAttribute(name)).map(
      (name) => `${name}=${encodeURIComponent(this.getAttribute(name)!)}`,
    );
    frame.src = `${file}#${[hash, ...asked].filter(Boolean).join("&")}`;
    frame.title = this.title;
    frame.loading = "lazy";
    frame.setAttribute("sandbox", "allow-scripts allow-popups");
    frame.style.cssText = "display:block;width:100%;height:560px;border:0";
    this.style.display = "block";
    let told = false;
    // What the page has inside the element, a link, is for where this program does not run.
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.replaceChildren(frame);

    addEventListener(
      "message",
      ({ source, data }) => {
        const high = data?.tilesimHeight;
        if (source !== frame.contentWindow || !Number.isFinite(high)) return;
        told = true;
        frame.style.height = `${high}px`;
      },
      { signal },
    );
    const tell = () => frame.contentWindow?.postMessage({ tilesimTheme: themeBehind(this) }, "*");
    frame.addEventListener("load", tell);
    // A page that is not there loads as well, but never says its height.
    const missing = () => {
      if (told || signal.aborted) return;
      const words = document.createElement("p");
      words.textContent = `No player was found at ${file}.`;
      root.replaceChildren(words);
    };
    frame.addEventListener("load", () => setTimeout(missing, PATIENCE));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell, { signal });
    document.addEventListener("transitionend", tell, { signal });
    const watch = new MutationObserver(tell);
    for (const part of [document.documentElement, document.body]) watch.observe(part, { attributes: true });
    signal.addEventListener("abort", () => watch.disconnect());
  }

  disconnectedCallback(): void {
    this.gone.abort();
  }
}

/** Whether what is behind an element is rather dark or light. */
function themeBehind(element: Element): "dark" | "light" {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
  for (let at: Element | null = element; at; at = at.parentElement) {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = getComputedStyle(at).backgroundColor;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    if (alpha > 127) return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128 ? "dark" : "light";
  }
  const schemes = getComputedStyle(document.documentElement).colorScheme;
  const prefersDark = !schemes.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches;
  return schemes.includes("dark") && prefersDark ? "dark" : "light";
}

if (!customElements.get("tilesim-player")) customElements.define("tilesim-player", TilesimPlayer);
