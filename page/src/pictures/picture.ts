/** A picture as data. The page draws it with uPlot, and files hold it as SVG. */

export interface Axis {
  label: string;
  /** Whether the scale is logarithmic. */
  log: boolean;
  /** Whether pictures with the same label share pointer and zoom. */
  shared?: boolean;
  /** Fixed ends; left out, the values decide. */
  min?: number;
  max?: number;
  /** Values are fractions, shown in percent. */
  percent?: boolean;
}

export interface Line {
  label: string;
  /** One value per position of the picture's x; null where there is none. */
  y: (number | null)[];
  /** Ends of the 95 % interval, if there are intervals. */
  low?: (number | null)[];
  high?: (number | null)[];
  /** Intervals around its points in both directions, one per position; null where there is none. */
  bars?: (Bar | null)[];
  /** The positions that the line joins, in this order; left out, from left to right. */
  route?: number[];
  /** Number of its colour and dashes. */
  style: number;
  /** Number of its dashes, where lines share a colour. */
  dashes?: number;
  markers?: boolean;
  /** Width of its markers, in pixels. */
  size?: number;
  /** Whether it is an area above those before it, as high as its values. */
  area?: boolean;
}

/** A cross of two intervals around a point. */
export interface Bar {
  x: [low: number, high: number];
  y: [low: number, high: number];
}

/** A straight line across the picture, with a label. */
export interface Mark {
  axis: "x" | "y";
  at: number;
  label: string;
  /** Its number in a list, where there is no room for the label. */
  key?: string;
  /** The buffer of the scenario, a rule, a rule whose assumptions fail, the answer. */
  kind: "limit" | "rule" | "failing" | "answer";
}

/** A part of the picture that is shaded. */
export interface Shade {
  axis: "x" | "y";
  from: number;
  to: number;
  /** The part of the other axis; the whole axis, if left out. */
  across?: [from: number, to: number];
  kind: "misses" | "unmeasured" | "meets";
}

export interface Picture {
  /** Name in file names. */
  name: string;
  title: string;
  x: Axis;
  y: Axis;
  xs: number[];
  lines: Line[];
  marks: Mark[];
  shades: Shade[];
}

/** Colours of Okabe and Ito with their dashes, as in the pictures of the command line. */
export const COLOURS = [
  "#000000",
  "#0072B2",
  "#D55E00",
  "#009E73",
  "#CC79A7",
  "#E69F00",
  "#56B4E9",
] as const;
export const DASHES: number[][] = [[], [7, 3], [8, 3, 2, 3], [2, 2.5], [9, 2, 2, 2, 2, 2]];

/** Opacity of areas, through which the grid is seen. */
export const AREA_OPACITY = 0.6;

/** Opacity of intervals around points, so that they stand behind the curves. */
export const BAR_OPACITY = 0.35;

/** The colours of a picture apart from those of its lines. */
export interface Theme {
  first: string;
  text: string;
  grid: string;
  ground: string;
  limit: string;
  answer: string;
  failing: string;
  misses: string;
  unmeasured: string;
  meets: string;
}

export const LIGHT: Theme = {
  first: "#000000",
  text: "#1c1c1c",
  grid: "#dddddd",
  ground: "#ffffff",
  limit: "#555555",
  answer: "#009E73",
  failing: "#8a8a8a",
  misses: "rgba(213, 94, 0, 0.13)",
  unmeasured: "rgba(0, 0, 0, 0.07)",
  meets: "rgba(0, 158, 115, 0.18)",
};

/** In the dark, black becomes white; the other colours keep their meaning. */
export const DARK: Theme = {
  first: "#ffffff",
  text: "#e8e8e8",
  grid: "#3d4248",
  ground: "#16191d",
  limit: "#b5b5b5",
  answer: "#21c597",
  failing: "#8f959b",
  misses: "rgba(230, 120, 30, 0.2)",
  unmeasured: "rgba(255, 255, 255, 0.09)",
  meets: "rgba(33, 197, 151, 0.22)",
};

const BRIGHT: Record<string, string> = { "#0072B2": "#4aa8e0", "#D55E00": "#f08a3c" };

export function colourOf(style: number, theme: Theme): string {
  const colour = COLOURS[style % COLOURS.length] ?? COLOURS[0];
  if (colour === COLOURS[0]) return theme.first;
  return theme === DARK ? (BRIGHT[colour] ?? colour) : colour;
}

/** The colour of an area, which needs no brightness and differs from its neighbours more without. */
export function fillOf(style: number, theme: Theme): string {
  const colour = COLOURS[style % COLOURS.length] ?? COLOURS[0];
  return colour === COLOURS[0] ? theme.first : colour;
}

export function dashesOf({ style, dashes }: Line): number[] {
  return DASHES[(dashes ?? style) % DASHES.length] ?? [];
}

export function colourOfMark(kind: Mark["kind"], theme: Theme): string {
  if (kind === "answer") return theme.answer;
  return kind === "failing" ? theme.failing : kind === "rule" ? theme.text : theme.limit;
}

/** Smallest and largest value that a picture shows on an axis. */
export function rangeOf(picture: Picture, axis: "x" | "y"): [number, number] {
  const settings = picture[axis];
  const values = axis === "x" ? picture.xs : valuesOf(picture);
  const shown = values.filter(
    (value): value is number =>
      value !== null && Number.isFinite(value) && !(settings.log && value <= 0),
  );
  const marks = picture.marks.filter((mark) => mark.axis === axis && mark.kind === "limit");
  if (axis === "y") shown.push(...marks.map((mark) => mark.at));
  let low = settings.min ?? shown.reduce((least, value) => Math.min(least, value), Infinity);
  let high = settings.max ?? shown.reduce((most, value) => Math.max(most, value), -Infinity);
  if (!Number.isFinite(low) || !Number.isFinite(high)) return settings.log ? [1, 10] : [0, 1];
  if (low === high) [low, high] = settings.log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  if (settings.max === undefined && axis === "y")
    high = settings.log ? high * 1.3 : high + (high - low) * 0.05;
  return [low, high];
}

/** Height at which each line is drawn: an area stands on the areas before it. */
export function heights({ lines }: Picture): (number | null)[][] {
  let below: number[] = [];
  return lines.map(({ area, y }) => {
    if (!area) return y;
    below = y.map((value, place) => (below[place] ?? 0) + (value ?? 0));
    return below;
  });
}

/** Whether a picture has no values. */
export function isEmpty(picture: Picture): boolean {
  return picture.lines.every((line) => line.y.every((value) => value === null));
}

function valuesOf(picture: Picture): (number | null)[] {
  const ends = picture.lines.flatMap(({ low, high }) => [...(low ?? []), ...(high ?? [])]);
  return [...heights(picture).flat(), ...ends];
}
