/** DOM: elements in one call. Text is always text, never markup. */

/** A part of the page. */
export interface Part {
  element: HTMLElement;
  /** Draw what is shown now. */
  draw(): void;
  /** Read the colours and the room anew. */
  refit?(): void;
}

type Attributes = Record<string, string>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function button(words: string, label: string, press: () => void): HTMLButtonElement {
  const made = element("button", { type: "button", "aria-label": label, title: label }, words);
  made.addEventListener("click", press);
  return made;
}

/** A canvas that the keyboard reaches, and that says what it shows. */
export function canvas(label: string): HTMLCanvasElement {
  return element("canvas", { role: "img", tabindex: "0", "aria-label": label });
}

/** Give a canvas so many CSS pixels at the screen's own resolution; its context draws in CSS pixels. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const scale = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}
