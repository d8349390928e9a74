/** Draws a strip: the packets at the link at one time, and the span below them.
 *
 * A frame costs little, so that phones show 60 of them per second: it writes a pixel per packet, or three
 * where packets are marked, which the browser enlarges, draws the drops that fall, and moves the cursor. The
 * rest is drawn once.
 */

import { make } from "../dom";
import { colourOf, type Theme } from "../pictures/picture";
import { duration, plain } from "../scenario/quantities";
import { placeAbove, presentByFlow, type Fates } from "./fates";
import { colourOfFlow, styleAt, type Strip } from "./strip";

/** Largest side of a packet, and the side from which packets have a gap between them, in pixels. */
const LARGEST = 14;
const WITH_GAP = 4;
/** The part of a packet that a bar fills is one of so many. */
const BAR_PARTS = 3;
const QUEUE_HEIGHT = 150;
/** Height into which dropped packets fall. */
const FALL_HEIGHT = 40;
const LANE = 16;
/** Height of a tick; that of a mark has half of it. */
const TICK = LANE - 4;
const WINDOWS_HEIGHT = 110;
const SPAN_HEIGHT = 2 * LANE + WINDOWS_HEIGHT + 22;
const LEFT = 12;
/** Room for a time at either end of the span. */
const TIME_WIDTH = 58;
/** Drops that fall at the same time. */
const MOST_FALLING = 100;

type Drawing = CanvasRenderingContext2D;

/** What is drawn at a moment. */
export interface Moment {
  /** Seconds after the span begins. */
  time: number;
  /** Simulated seconds in which a drop falls; 0 where nothing moves. */
  fallS: number;
}

export class StripDrawing {
  readonly #strip: Strip;
  readonly #theme: Theme;
  readonly #width: number;
  readonly #cursor = make("div", { class: "cursor" });
  readonly #waiting: Waiting;
  readonly #falling: Falling;

  /** Draws into an element instead of what is there. */
  constructor(host: HTMLElement, strip: Strip, theme: Theme, width: number, ratio: number) {
    [this.#strip, this.#theme, this.#width] = [strip, theme, width];
    const [side, rows] = layout(strip.counts.most, width - LEFT, QUEUE_HEIGHT);
    this.#waiting = new Waiting(strip, theme, side, rows);
    this.#falling = new Falling(strip, theme, Math.max(6, side), width, ratio);
    const [span, context] = canvasOf("span", width, SPAN_HEIGHT, ratio);
    if (context) this.#drawSpan(context);
    const gate = make("div", { class: "gate" });
    const over = make("div", { class: "over" }, span, this.#cursor);
    host.replaceChildren(gate, this.#waiting.element, this.#falling.canvas, over);
  }

  /** Whether a packet that is marked has a bar. */
  get hasBars(): boolean {
    return this.#waiting.hasBars;
  }

  draw(moment: Moment): void {
    this.#waiting.draw(moment.time);
    this.#falling.draw(moment);
    this.#cursor.style.transform = `translateX(${this.#x(moment.time)}px)`;
  }

  /** Drops, marks, gaps and windows over the whole span. */
  #drawSpan(context: Drawing): void {
    const { fates, calls, windows, who, beginS, lengthS } = this.#strip;
    const ticks = (times: number[], y: number, height: number, colour: string): void => {
      context.strokeStyle = colour;
      context.lineWidth = 1;
      context.beginPath();
      for (const time of times) {
        context.moveTo(this.#x(time), y);
        context.lineTo(this.#x(time), y + height);
      }
      context.stroke();
    };
    ticks(fates.markTimes, TICK / 2, TICK / 2, this.#theme.answer);
    ticks(fates.dropTimes, 0, TICK, this.#theme.text);
    if (who !== "") ticks(calls, LANE, TICK, this.#theme.limit);
    const low = 2 * LANE + WINDOWS_HEIGHT;
    line(context, this.#theme.grid, 1, [LEFT, low], [this.#width, low]);
    const most = windows.reduce((high, curve) => Math.max(high, ...curve.values), 1);
    for (const { flow, times, values } of windows) {
      context.strokeStyle = colourOfFlow(this.#strip, flow, this.#theme);
      context.lineWidth = 1.5;
      context.beginPath();
      times.forEach((time, at) => {
        const y = low - ((values[at] ?? 0) / most) * (WINDOWS_HEIGHT - 14);
        context.lineTo(this.#x(time), y);
      });
      context.stroke();
    }
    context.fillStyle = this.#theme.text;
    context.font = "12px system-ui, sans-serif";
    // Below the picture, where the cursor does not go.
    const label = (text: string, x: number, align: CanvasTextAlign): void => {
      context.textAlign = align;
      context.fillText(text, x, SPAN_HEIGHT - 4);
    };
    label(`${plain(beginS, 5)} s`, LEFT, "left");
    label(`${plain(beginS + lengthS, 5)} s`, this.#width - 2, "right");
    const room = this.#width - LEFT - 2 * TIME_WIDTH;
    const words = [
      `lines: windows, up to ${plain(most)} packets`,
      `windows, up to ${plain(most)} packets`,
      `windows up to ${plain(most)}`,
    ].find((text) => context.measureText(text).width < room);
    if (windows.length > 0 && words !== undefined) {
      label(words, (LEFT + this.#width) / 2, "center");
    }
  }

  #x(time: number): number {
    return LEFT + (time / this.#strip.lengthS) * (this.#width - LEFT - 2);
  }
}

/** The packets at the link, from the one that is sent at the left in columns to the right. */
class Waiting {
  readonly element: HTMLElement;
  readonly #fates: Fates;
  readonly #image: ImageData;
  readonly #pixels: Uint32Array;
  /** By flow. */
  readonly #colours: Uint32Array;
  /** Pixels above each other of a packet, of which the lowest is the bar of a packet that is marked. */
  readonly #parts: number;
  readonly #bar: number;
  readonly #context: Drawing | null;

  constructor(strip: Strip, theme: Theme, side: number, rows: number) {
    this.#fates = strip.fates;
    const columns = Math.max(1, Math.ceil((strip.counts.most + 1) / rows));
    this.#parts = hasBars(strip, side) ? BAR_PARTS : 1;
    this.#bar = pixelOf(theme.text);
    const height = rows * this.#parts;
    const canvas = make("canvas", { width: String(columns), height: String(height) });
    this.#context = canvas.getContext("2d");
    this.#image = new ImageData(columns, height);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
    this.#colours = new Uint32Array(1 + (strip.seen.at(-1) ?? 0));
    strip.seen.forEach((flow, place) => {
      this.#colours[flow] = pixelOf(colourOf(styleAt(place), theme));
    });
    this.element = make("div", { class: "waiting" }, canvas);
    canvas.style.width = `${columns * side}px`;
    canvas.style.height = `${rows * side}px`;
    if (side < WITH_GAP) return;
    const gaps = make("div", { class: "gaps" });
    // Where nothing waits, gaps have the colour of the page, which may be the reader's own.
    const ground = window.matchMedia("(forced-colors: active)").matches ? "Canvas" : theme.ground;
    const edge = (towards: string): string =>
      `linear-gradient(to ${towards}, ${ground} 1px, transparent 1px)`;
    gaps.style.backgroundImage = `${edge("right")}, ${edge("bottom")}`;
    gaps.style.backgroundSize = `${side}px ${side}px`;
    this.element.append(gaps);
  }

  get hasBars(): boolean {
    return this.#parts > 1;
  }

  draw(time: number): void {
    const { flow, arrival, end, latestEnd, marked } = this.#fates;
    const [pixels, colours, parts] = [this.#pixels, this.#colours, this.#parts];
    const { width: columns, height: rows } = this.#image;
    pixels.fill(0);
    const last = placeAbove(arrival, time);
    let [row, column] = [0, 0];
    for (let packet = placeAbove(latestEnd, time); packet < last; packet++) {
      if ((end[packet] ?? 0) <= time) continue;
      const colour = colours[flow[packet] ?? 0] ?? 0;
      for (const next = row + parts; row < next; row++) pixels[row * columns + column] = colour;
      if (parts > 1 && (marked[packet] ?? Infinity) <= time) {
        pixels[(row - 1) * columns + column] = this.#bar;
      }
      if (row < rows) continue;
      row = 0;
      column++;
    }
    this.#context?.putImageData(this.#image, 0, 0);
  }
}

/** Packets that were dropped a moment ago, on their way down. */
class Falling {
  readonly canvas: HTMLCanvasElement;
  readonly #strip: Strip;
  readonly #context: Drawing | null;
  readonly #side: number;
  readonly #width: number;
  /** A dropped packet per colour. */
  readonly #sprites = new Map<string, HTMLCanvasElement>();
  readonly #colour: (flow: number) => string;
  #isEmpty = true;

  constructor(strip: Strip, theme: Theme, side: number, width: number, ratio: number) {
    [this.#strip, this.#side, this.#width] = [strip, side, width];
    [this.canvas, this.#context] = canvasOf("falling", width, FALL_HEIGHT, ratio);
    this.#colour = (flow) => colourOfFlow(strip, flow, theme);
    for (const flow of strip.seen.slice(0, 6)) {
      const colour = this.#colour(flow);
      const [sprite, context] = canvasOf("", side, side, ratio);
      if (context) drawCrossed(context, side, colour, theme.text);
      this.#sprites.set(colour, sprite);
    }
  }

  draw({ time, fallS }: Moment): void {
    const { fates } = this.#strip;
    const [context, side] = [this.#context, this.#side];
    if (!this.#isEmpty) context?.clearRect(0, 0, this.#width, FALL_HEIGHT);
    this.#isEmpty = true;
    const last = placeAbove(fates.dropTimes, time);
    for (let drop = last - 1; drop >= Math.max(0, last - MOST_FALLING); drop--) {
      const age = time - (fates.dropTimes[drop] ?? 0);
      const fallen = fallS > 0 ? age / fallS : 0.5;
      if (fallS > 0 ? age >= fallS : age > 0) break;
      const packet = fates.drops[drop] ?? 0;
      const x = LEFT + ((last - drop) % 40) * (side + 2);
      const y = fallen * (FALL_HEIGHT - side - 2);
      const sprite = this.#sprites.get(this.#colour(fates.flow[packet] ?? 0));
      if (sprite) context?.drawImage(sprite, x, y, side, side);
      this.#isEmpty = false;
    }
  }
}

function drawCrossed(context: Drawing, side: number, colour: string, cross: string): void {
  context.fillStyle = colour;
  context.fillRect(0, 0, side, side);
  line(context, cross, 1.5, [0, 0], [side, side]);
  line(context, cross, 1.5, [side, 0], [0, side]);
}

/** A canvas of a size in CSS pixels, and what draws on it in them. */
function canvasOf(
  name: string,
  width: number,
  height: number,
  ratio: number,
): [HTMLCanvasElement, Drawing | null] {
  const canvas = make("canvas", { class: name });
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context?.scale(ratio, ratio);
  return [canvas, context];
}

/** Whether marked packets have a bar: where some are marked, and packets are large enough. */
function hasBars({ fates, counts }: Strip, side: number): boolean {
  const isMarked = (time: number): boolean => time < Infinity;
  return side >= BAR_PARTS && (counts.marks > 0 || fates.marked.some(isMarked));
}

/** Side of a packet and packets above each other, so that all find room. */
export function layout(most: number, width: number, height: number): [side: number, rows: number] {
  for (let side = LARGEST; side > 1; side--) {
    const rows = Math.max(1, Math.floor(height / side));
    if (Math.ceil((most + 1) / rows) * side <= width) return [side, rows];
  }
  const side = Math.min(1, (width * height) / Math.max(1, 2 * most));
  return [side, Math.max(1, Math.floor(height / side))];
}

function line(
  context: Drawing,
  colour: string,
  width: number,
  from: [number, number],
  to: [number, number],
): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

/** A colour "#rrggbb" as a pixel of an image on a machine with the low byte first. */
function pixelOf(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return ((255 << 24) | ((blue ?? 0) << 16) | ((green ?? 0) << 8) | (red ?? 0)) >>> 0;
}

/** What is seen at a moment, in words. */
export function momentText({ fates, names, beginS, seen }: Strip, time: number): string {
  const present = presentByFlow(fates, time, seen.at(-1) ?? 0);
  const total = present.reduce((sum, count) => sum + count, 0);
  const parts = seen
    .map((flow): [number, number] => [flow, present[flow] ?? 0])
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 4)
    .map(([flow, count]) => `${names[flow] ?? "?"} ${plain(count)}`);
  const dropped = plain(placeAbove(fates.dropTimes, time));
  const marked = plain(placeAbove(fates.markTimes, time));
  const soFar =
    fates.markTimes.length > 0 ? `${dropped} dropped, ${marked} marked` : `${dropped} dropped`;
  const whose = parts.length > 0 ? ` (${parts.join(", ")})` : "";
  return `At ${(beginS + time).toFixed(4)} s: ${plain(total)} at the link${whose}; ${soFar} so far`;
}

/** What is seen in the whole span, in words. */
export function spanText(strip: Strip, link: string): string {
  const { counts, beginS, lengthS, gapS, who } = strip;
  const gap = gapS === null ? "" : ` The longest gap of ${who} is ${duration(gapS)}.`;
  return (
    `${plain(counts.arrivals, 6)} packets arrive at ${link} from ${plain(beginS, 5)} s to ` +
    `${plain(beginS + lengthS, 5)} s; ${plain(counts.departures, 6)} depart, ${plain(counts.drops, 6)} are dropped, ` +
    `${plain(counts.marks, 6)} are marked. At most ${plain(counts.most, 6)} are at the link at the same time.${gap} ` +
    `The upper ticks are drops${counts.marks > 0 ? ", the short ones marks" : ""}${who === "" ? "" : `, the lower ones departures of ${who}`}.`
  );
}
