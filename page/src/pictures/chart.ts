/** A picture on the screen: uPlot, with zoom by dragging, and the values under the pointer. */

import uPlot from "uplot";
import { plain } from "../scenario/quantities";
import { AREA, dressLegend, followPointer, legendOf } from "./legend";
import { linearTicks, logTicks, tickText } from "./scales";
import {
  BAR_OPACITY,
  colourOf,
  colourOfMark,
  DARK,
  dashesOf,
  fillOf,
  heights,
  LIGHT,
  rangeOf,
  type Axis,
  type Line,
  type Picture,
  type Theme,
} from "./picture";

const HEIGHT = 250;
/** Height above a picture for the keys of its marks. */
const KEYS_HEIGHT = 30;
/** Below this width labels of marks would cover the picture. */
const NARROW = 420;
/** Lines that the description of a picture names. */
const MOST_WORDS = 10;

export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "dark" || chosen === "light") return chosen === "dark";
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Where the pointer is in a picture, in pixels, and where values are. */
export interface Pick {
  at: [x: number, y: number];
  placeOf: (x: number, y: number) => [x: number, y: number];
  /** Whether the pointer was pressed just now. */
  begins: boolean;
}

/** A picture in an element; draws at most once per frame. */
export class Chart {
  readonly #host: HTMLElement;
  #picture: Picture | null = null;
  #plot: uPlot | null = null;
  /** What the plot was made for; other data can be set without making it anew. */
  #shape = "";
  #frame = 0;

  readonly #onPick: ((pick: Pick) => void) | null;

  /** @param onPick - Hears of a pressed pointer that moves; without it, dragging zooms. */
  constructor(host: HTMLElement, onPick: ((pick: Pick) => void) | null = null) {
    this.#host = host;
    this.#onPick = onPick;
    new ResizeObserver(() => this.#resize()).observe(host);
  }

  get picture(): Picture | null {
    return this.#picture;
  }

  /** Canvas with the picture as it stands on the screen. */
  get canvas(): HTMLCanvasElement | null {
    return this.#plot?.ctx.canvas ?? null;
  }

  show(picture: Picture): void {
    this.#picture = picture;
    this.#host.setAttribute("role", "img");
    this.#host.setAttribute("aria-label", inWords(picture));
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  /** There is no picture any more. */
  clear(): void {
    this.#picture = null;
    this.#shape = "";
    this.#plot?.destroy();
    this.#plot = null;
  }

  /** Draws with other colours. */
  restyle(): void {
    this.#shape = "";
    if (this.#picture) this.show(this.#picture);
  }

  #draw(): void {
    this.#frame = 0;
    const picture = this.#picture;
    if (!picture || this.#host.clientWidth === 0) return;
    const shape = JSON.stringify([
      picture.title,
      picture.x.log,
      picture.y.log,
      picture.y.label,
      picture.x.label,
      hasKeys(picture),
      picture.lines.map(({ label, style, dashes, low, area }) => [
        label,
        style,
        dashes,
        low !== undefined,
        area,
      ]),
    ]);
    if (shape === this.#shape && this.#plot) {
      this.#plot.setData(dataOf(picture));
      return;
    }
    this.#shape = shape;
    this.#plot?.destroy();
    const theme = isDark() ? DARK : LIGHT;
    const width = this.#host.clientWidth;
    const options = optionsOf(() => this.#picture ?? picture, theme, width);
    if (this.#onPick) options.cursor = { ...options.cursor, drag: { x: false, y: false } };
    this.#plot = new uPlot(options, dataOf(picture), this.#host);
    if (this.#onPick) listen(this.#plot, this.#onPick);
  }

  #resize(): void {
    const width = this.#host.clientWidth;
    if (!this.#plot) {
      if (this.#picture) this.show(this.#picture);
    } else if (width > 0 && width !== this.#plot.width)
      this.#plot.setSize({ width, height: HEIGHT });
  }
}

function listen(plot: uPlot, onPick: (pick: Pick) => void): void {
  const { over } = plot;
  over.classList.add("picks");
  const tell = (event: PointerEvent, begins: boolean): void => {
    const { left, top } = over.getBoundingClientRect();
    onPick({
      at: [event.clientX - left, event.clientY - top],
      placeOf: (x, y) => [plot.valToPos(x, "x"), plot.valToPos(y, "y")],
      begins,
    });
  };
  over.addEventListener("pointerdown", (event) => {
    over.setPointerCapture(event.pointerId);
    tell(event, true);
  });
  over.addEventListener("pointermove", (event) => {
    if (over.hasPointerCapture(event.pointerId)) tell(event, false);
  });
}

/** A picture in words: what it shows, and between which values each line lies. */
function inWords(picture: Picture): string {
  const lines = picture.lines.slice(0, MOST_WORDS).map(({ label, y }) => {
    const values = y.filter((value) => value !== null);
    if (values.length === 0) return `${label}: no values`;
    const least = values.reduce((a, b) => Math.min(a, b));
    const most = values.reduce((a, b) => Math.max(a, b));
    return `${label}: from ${shown(least, picture.y)} to ${shown(most, picture.y)}`;
  });
  return `${picture.title}. ${picture.y.label} over ${picture.x.label}. ${lines.join("; ")}`;
}

function dataOf(picture: Picture): uPlot.AlignedData {
  const drawn = heights(picture);
  const columns = picture.lines.flatMap(({ low, high }, place) => {
    const line = drawn[place] ?? [];
    return low && high ? [line, low, high] : [line];
  });
  return [picture.xs, ...columns.map((column) => positive(column, picture.y.log))];
}

/** A logarithmic scale has no place for zero. */
function positive(column: (number | null)[], log: boolean): (number | null)[] {
  return log ? column.map((value) => (value !== null && value > 0 ? value : null)) : column;
}

function hasKeys({ marks }: Picture): boolean {
  return marks.some(({ key }) => key !== undefined);
}

function optionsOf(current: () => Picture, theme: Theme, width: number): uPlot.Options {
  const picture = current();
  const series: uPlot.Series[] = [
    { label: picture.x.label, value: (_, at) => shown(at, picture.x) },
  ];
  const bands: uPlot.Band[] = [];
  /** By the numbers of series: positions and the ends of intervals are no lines. */
  const lines: (Line | null)[] = [null];
  const lineOf = (number: number): Line | null => lines[number] ?? null;
  for (const [number, line] of picture.lines.entries()) {
    series.push(seriesOf(current, number, theme));
    lines.push(line);
    // An area ends at the one below it.
    if (line.area && picture.lines[number - 1]?.area)
      bands.push({ series: [series.length - 1, series.length - 2] });
    if (!line.low || !line.high) continue;
    const place = series.length;
    const hidden: uPlot.Series = {
      stroke: "transparent",
      width: 0,
      spanGaps: true,
      points: { show: false },
    };
    series.push({ ...hidden, label: "lower" }, { ...hidden, label: "upper" });
    lines.push(null, null);
    bands.push({ series: [place + 1, place], fill: `${colourOf(line.style, theme)}30` });
  }
  return {
    width,
    height: HEIGHT,
    padding: [hasKeys(picture) ? KEYS_HEIGHT : null, null, null, null],
    series,
    bands,
    cursor: {
      drag: { x: true, y: false },
      focus: { prox: 16 },
      // The name of a key is the label, since the same part of an axis means the same there.
      ...(picture.x.shared && { sync: { key: picture.x.label, scales: ["x", null] } }),
    },
    focus: { alpha: 0.4 },
    legend: legendOf(picture.lines, lineOf, theme),
    scales: {
      x: scale(() => current(), "x"),
      y: scale(() => current(), "y"),
    },
    axes: [axis("x", picture.x, theme), axis("y", picture.y, theme)],
    hooks: {
      drawClear: [
        (plot) => {
          drawShades(plot, current(), theme);
          drawBars(plot, current(), theme);
        },
      ],
      draw: [(plot) => drawMarks(plot, current(), theme)],
      ready: [(plot) => dressLegend(plot, picture.lines, lineOf)],
      setCursor: [followPointer],
    },
  };
}

/** The line with a number; the legend says the values of areas, not their heights. */
function seriesOf(current: () => Picture, number: number, theme: Theme): uPlot.Series {
  const picture = current();
  const line = picture.lines[number] as Line;
  const colour = (line.area ? fillOf : colourOf)(line.style, theme);
  return {
    label: line.label,
    stroke: colour,
    dash: picture.lines.length > 1 && !line.area ? dashesOf(line) : [],
    width: line.area ? 0.5 : 1.3,
    spanGaps: true,
    points: {
      show: line.markers === true,
      size: line.size ?? 6,
      fill: line.size ? colour : theme.ground,
    },
    ...(line.area && { fill: `${colour}${AREA}` }),
    ...(line.route && { paths: (plot: uPlot) => routeOf(plot, current(), number) }),
    value: (_, value, __, at) =>
      shown(line.area && at !== null ? current().lines[number]?.y[at] : value, picture.y),
  };
}

function scale(current: () => Picture, name: "x" | "y"): uPlot.Scale {
  const { log } = current()[name];
  return {
    time: false,
    // uPlot's names for these numbers exist as types only.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment
    distr: log ? 3 : 1,
    range: (plot, low, high) => {
      // A zoomed x keeps the part that was chosen.
      const isZoomed = name === "x" && isPart(plot, low, high);
      return isZoomed ? [low, high] : rangeOf(current(), name);
    },
  };
}

/** Whether the ends, which are null without data, leave out some of the data. */
function isPart(plot: uPlot, low: number | null, high: number | null): boolean {
  const xs = plot.data[0];
  if (low === null || high === null || xs.length === 0) return false;
  return low > (xs[0] ?? low) || high < (xs.at(-1) ?? high);
}

function axis(name: "x" | "y", settings: Axis, theme: Theme): uPlot.Axis {
  return {
    label: settings.label,
    labelSize: 22,
    labelFont: "13px system-ui, sans-serif",
    font: "12px system-ui, sans-serif",
    stroke: theme.text,
    grid: { stroke: theme.grid, width: 1 },
    ticks: { stroke: theme.grid, width: 1 },
    size: name === "y" ? 62 : 40,
    splits: (_plot, _axis, low, high) => (settings.log ? logTicks : linearTicks)(low, high),
    values: (_, values: (number | null)[]) =>
      // On a logarithmic scale uPlot leaves out some ticks by setting them to null.
      values.map((value) => (value === null ? "" : tickText(value, settings.percent))),
  };
}

export function shown(value: number | null | undefined, settings: Axis): string {
  if (value === null || value === undefined) return "–";
  return settings.percent ? `${plain(100 * value, 4)} %` : plain(value, 4);
}

function drawShades(plot: uPlot, picture: Picture, theme: Theme): void {
  const { ctx } = plot;
  ctx.save();
  ctx.fillStyle = theme.ground;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  for (const shade of picture.shades) {
    const [a, b] = [place(plot, shade.axis, shade.from), place(plot, shade.axis, shade.to)];
    const [low, high] = [Math.min(a, b), Math.max(a, b)];
    const other = shade.axis === "x" ? "y" : "x";
    const [c, d] = shade.across?.map((end) => place(plot, other, end)) ?? wholeOf(plot, other);
    const [from, to] = [Math.min(c ?? 0, d ?? 0), Math.max(c ?? 0, d ?? 0)];
    ctx.fillStyle = theme[shade.kind];
    if (shade.axis === "x") ctx.fillRect(low, from, high - low, to - from);
    else ctx.fillRect(from, low, to - from, high - low);
  }
  ctx.restore();
}

/** The line through its points in the order of its route. */
function routeOf(plot: uPlot, { xs, lines }: Picture, number: number): uPlot.Series.Paths {
  const stroke = new Path2D();
  const { route = [], y = [] } = lines[number] ?? {};
  for (const at of route) {
    const [x, value] = [xs[at], y[at]];
    if (x === undefined || value === undefined || value === null) continue;
    stroke.lineTo(plot.valToPos(x, "x", true), plot.valToPos(value, "y", true));
  }
  return { stroke };
}

/** The intervals around points: a stroke in either direction, behind the lines. */
function drawBars(plot: uPlot, picture: Picture, theme: Theme): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.globalAlpha = BAR_OPACITY;
  ctx.lineWidth = (1.5 * ctx.canvas.width) / Math.max(1, plot.width);
  for (const line of picture.lines) {
    ctx.strokeStyle = colourOf(line.style, theme);
    ctx.beginPath();
    (line.bars ?? []).forEach((bar, at) => {
      const [x, y] = [picture.xs[at], line.y[at]];
      if (!bar || x === undefined || y === undefined || y === null) return;
      const [left, top] = [plot.valToPos(x, "x", true), plot.valToPos(y, "y", true)];
      const [[a, b], [c, d]] = [bar.x, bar.y];
      ctx.moveTo(place(plot, "x", a), top);
      ctx.lineTo(place(plot, "x", b), top);
      ctx.moveTo(left, place(plot, "y", c));
      ctx.lineTo(left, place(plot, "y", d));
    });
    ctx.stroke();
  }
  ctx.restore();
}

/** The ends of an axis on the canvas. */
function wholeOf({ bbox }: uPlot, name: "x" | "y"): [number, number] {
  return name === "x" ? [bbox.left, bbox.left + bbox.width] : [bbox.top, bbox.top + bbox.height];
}

/** Position of a value on the canvas, inside the picture. */
function place(plot: uPlot, name: "x" | "y", value: number): number {
  const [low, high] = wholeOf(plot, name);
  const at = plot.valToPos(value, name, true);
  const end = value > 0 === (name === "x") ? high : low;
  return Math.min(high, Math.max(low, Number.isFinite(at) ? at : end));
}

function drawMarks(plot: uPlot, picture: Picture, theme: Theme): void {
  const { ctx, bbox } = plot;
  const density = ctx.canvas.width / Math.max(1, plot.width);
  ctx.save();
  ctx.font = `${11 * density}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  let row = 0;
  const keys: Key[] = [];
  for (const mark of picture.marks) {
    const at = plot.valToPos(mark.at, mark.axis, true);
    const inside =
      mark.axis === "x"
        ? at >= bbox.left && at <= bbox.left + bbox.width
        : at >= bbox.top && at <= bbox.top + bbox.height;
    if (!inside) continue;
    const colour = colourOfMark(mark.kind, theme);
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = (mark.kind === "answer" ? 2.5 : 1.2) * density;
    ctx.setLineDash(mark.kind === "answer" ? [] : [4 * density, 3 * density]);
    ctx.beginPath();
    if (mark.axis === "x") {
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bbox.top + bbox.height);
    } else {
      ctx.moveTo(bbox.left, at);
      ctx.lineTo(bbox.left + bbox.width, at);
    }
    ctx.stroke();
    if (mark.key !== undefined) {
      keys.push({ text: mark.key, at, colour, isAnswer: mark.kind === "answer" });
      continue;
    }
    // A mark at a height has the width of the picture for its label.
    const { label } = mark;
    if (plot.width < NARROW && mark.axis === "x") continue;
    const width = ctx.measureText(label).width;
    const right = bbox.left + bbox.width;
    ctx.setLineDash([]);
    ctx.strokeStyle = theme.ground;
    ctx.lineWidth = 4 * density;
    const write = (left: number, bottom: number): void => {
      // No line crosses a label.
      ctx.strokeText(label, left, bottom);
      ctx.fillText(label, left, bottom);
    };
    if (mark.axis === "x") {
      const left = at + 4 * density + width > right ? at - 4 * density - width : at + 4 * density;
      write(left, bbox.top + (11 + 12 * (row++ % 6)) * density);
    } else {
      write(right - width - 3 * density, at - 3 * density);
    }
  }
  drawKeys(plot, keys, density);
  ctx.restore();
}

/** A mark's text above the picture, and where its line is. */
interface Key {
  text: string;
  at: number;
  colour: string;
  isAnswer: boolean;
}

/** The answer has a row for itself above the others, which give way to the right. */
function drawKeys({ ctx, bbox }: uPlot, keys: Key[], density: number): void {
  const end = bbox.left + bbox.width;
  let free = 0;
  for (const { text, at, colour, isAnswer } of keys.sort((a, b) => a.at - b.at)) {
    const width = ctx.measureText(text).width;
    const left = Math.max(isAnswer ? 0 : free, Math.min(at - width / 2, end - width));
    if (!isAnswer) free = left + width + 4 * density;
    ctx.fillStyle = colour;
    ctx.fillText(text, left, bbox.top - (isAnswer ? 18 : 5) * density);
  }
}
