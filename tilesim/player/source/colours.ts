/** Colours: those of the style sheet, packed for pixels, and one for each SM. */

export type Rgb = [number, number, number];

const OKABE_ITO: Rgb[] = [
  [86, 180, 233],
  [0, 158, 115],
  [204, 121, 167],
  [240, 228, 66],
  [0, 114, 178],
  [213, 94, 0],
];

const ROLES = [
  "background",
  "panel",
  "idle",
  "text",
  "quiet",
  "write",
  "hand-over",
  "wait",
  "partial",
  "cursor",
  "measured",
  "simulated",
  "launch",
] as const;
type Role = (typeof ROLES)[number];

/** Share of its colour that stays of what is not spoken of. */
const DIMMED = 0.35;

/** What things are painted in: CSS colours for lines and words, packed ones for pixels, lit and dimmed. */
export interface Palette {
  css: Record<Role, string>;
  rgb: Record<Role, Rgb>;
  /** Of each SM, as legible as it is painted. */
  hues: Rgb[];
  lit: Pixels;
  dimmed: Pixels;
}

/** Packed colours; those of SMs by their numbers. */
export interface Pixels {
  /** Beside a launch, which would look like an SM of its colour. */
  edge: number;
  launch: number;
  handOver: number;
  wait: number;
  fixUp: number;
  write: number;
  multiply: Uint32Array;
  load: Uint32Array;
  writeUnder: Uint32Array;
}

export function palette(element: Element, sms: number): Palette {
  const rgb = Object.fromEntries(ROLES.map((role) => [role, resolved(element, role)])) as Record<Role, Rgb>;
  const clear = (colour: Rgb) => legible(colour, rgb.idle);
  for (const role of ["launch", "hand-over", "wait", "partial"] as const) rgb[role] = clear(rgb[role]);
  const css = Object.fromEntries(ROLES.map((role) => [role, `rgb(${rgb[role].join(" ")})`])) as Record<
    Role,
    string
  >;
  const hues = smColours(sms).map(clear);
  const pixels = (share: number): Pixels => {
    const dim = (colour: Rgb) => packed(mix(rgb.background, colour, share));
    const each = (paint: (hue: Rgb) => Rgb) => Uint32Array.from(hues, (hue) => dim(paint(hue)));
    return {
      edge: packed(rgb.background),
      launch: dim(rgb.launch),
      handOver: dim(rgb["hand-over"]),
      wait: dim(rgb.wait),
      fixUp: dim(rgb["partial"]),
      write: dim(rgb.write),
      multiply: each((hue) => hue),
      load: each((hue) => clear(mix(rgb.background, hue, 0.45))),
      writeUnder: each((hue) => mix(hue, rgb.write, 0.6)),
    };
  };
  return { css, rgb, hues, lit: pixels(1), dimmed: pixels(DIMMED) };
}

/** The least contrast of what carries meaning (WCAG 2.2, 1.4.11). */
const LEAST_CONTRAST = 3;

/** A colour, darker on a light ground or lighter on a dark one as far as its contrast to that takes. */
export function legible(colour: Rgb, ground: Rgb): Rgb {
  const ink: Rgb = luminance(ground) > 0.18 ? [0, 0, 0] : [255, 255, 255];
  for (let share = 0; share < 1; share += 0.02) {
    const made = mix(colour, ink, share);
    if (contrast(made, ground) >= LEAST_CONTRAST) return made;
  }
  return ink;
}

/** Contrast of two colours, 1 to 21 (WCAG 2.2). */
function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour
    .map((byte) => byte / 255)
    .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** A colour of the style sheet, as it is where `element` stands: light or dark. */
function resolved(element: Element, role: Role): Rgb {
  const probe = document.createElement("i");
  probe.style.color = `var(--${role})`;
  element.append(probe);
  const found = getComputedStyle(probe)
    .color.match(/[\d.]+/g)!
    .slice(0, 3)
    .map(Number);
  probe.remove();
  return found as Rgb;
}

/** Okabe-Ito up to 6 SMs, beyond that a ramp of hues; as `scenes/look/theme.py`. */
export function smColours(sms: number): Rgb[] {
  if (sms <= OKABE_ITO.length) return OKABE_ITO.slice(0, sms);
  return Array.from({ length: sms }, (_, sm) => {
    const share = sm / (sms - 1);
    // From yellow-green over blue to pink: the third of the circle around orange is left out.
    return oklch(0.74 - 0.12 * Math.sin(Math.PI * share), 0.13, 112 + 248 * share);
  });
}

/** OKLCH (hue in degrees) to sRGB bytes, clipped: B. Ottosson, A perceptual color space (2020). */
function oklch(lightness: number, chroma: number, hue: number): Rgb {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const [l, m, s] = [
    lightness + 0.3963377774 * a + 0.2158037573 * b,
    lightness - 0.1055613458 * a - 0.0638541728 * b,
    lightness - 0.0894841775 * a - 1.291485548 * b,
  ].map((cone) => cone ** 3);
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return linear.map((value) => {
    const clipped = Math.min(1, Math.max(0, value));
    return Math.round(255 * (clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055));
  }) as Rgb;
}

/** `share` of `over` on `under`. */
export function mix(under: Rgb, over: Rgb, share: number): Rgb {
  return under.map((value, n) => Math.round((1 - share) * value + share * over[n])) as Rgb;
}

/** A colour as a pixel of an ImageData, seen as Uint32Array on a little-endian machine. */
export function packed([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Black or white, whichever is easier to read on a colour; its contrast is at least 4.5. */
export function inkOn(colour: Rgb): string {
  return contrast(colour, [0, 0, 0]) > contrast(colour, [255, 255, 255]) ? "rgb(0 0 0)" : "rgb(255 255 255)";
}
