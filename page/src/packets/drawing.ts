/** Draws a strip: the packets at the link at one time, and the span below them. */

import type { Theme } from "../pictures/picture";
import { duration, plain } from "../scenario/quantities";
import { eachPresent, placeAbove } from "./fates";
import { colourOfFlow, type Strip } from "./strip";

/** Largest side of a packet, and the side from which packets have a gap between them, in pixels. */
const LARGEST = 14;
const WITH_GAP = 4;
const QUEUE_HEIGHT = 150;
/** Height into which dropped packets fall. */
const FALL_HEIGHT = 40;
const LANE = 16;
const WINDOWS_HEIGHT = 110;
const LEFT = 12;
/** Drops that fall at the same time. */
const MOST_FALLING = 100;
export const HEIGHT = QUEUE_HEIGHT + FALL_HEIGHT + 2 * LANE + WINDOWS_HEIGHT + 22;

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
  /** Side of a packet, and packets above each other. */
  readonly #side: number;
  readonly #rows: number;
  readonly #colours = new Map<number, [css: string, pixel: number]>();
  readonly #packets = document.createElement("canvas");
  readonly #image: ImageData;
  readonly #pixels: Uint32Array;
  readonly #span = document.createElement("canvas");

  constructor(strip: Strip, theme: Theme, width: number, ratio: number) {
    [this.#strip, this.#theme, this.#width] = [strip, theme, width];
    [this.#side, this.#rows] = layout(strip.counts.most, width - LEFT, QUEUE_HEIGHT);
    for (const flow of strip.seen) {
      const colour = colourOfFlow(strip, flow, theme);
      this.#colours.set(flow, [colour, pixelOf(colour)]);
    }
    const columns = Math.max(1, Math.ceil((strip.counts.most + 1) / this.#rows));
    this.#packets.width = columns;
    this.#packets.height = this.#rows;
    this.#image = new ImageData(columns, this.#rows);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
    this.#span.width = width * ratio;
    this.#span.height = HEIGHT * ratio;
    const context = this.#span.getContext("2d");
    context?.scale(ratio, ratio);
    if (context) this.#drawSpan(context);
  }

  draw(context: Drawing, moment: Moment): void {
    context.fillStyle = this.#theme.ground;
    context.fillRect(0, 0, this.#width, HEIGHT);
    this.#drawPackets(context, moment);
    this.#drawDrops(context, moment);
    context.drawImage(this.#span, 0, 0, this.#width, HEIGHT);
    const x = this.#x(moment.time);
    line(context, this.#theme.text, 2, [x, QUEUE_HEIGHT + FALL_HEIGHT], [x, HEIGHT - 18]);
  }

  /** The packets at the link, from the one that is sent at the left in columns to the right. */
  #drawPackets(context: Drawing, { time }: Moment): void {
    const { fates } = this.#strip;
    const columns = this.#packets.width;
    this.#pixels.fill(0);
    let place = 0;
    eachPresent(fates, time, (packet) => {
      const at = (place % this.#rows) * columns + Math.floor(place / this.#rows);
      if (place < this.#pixels.length)
        this.#pixels[at] = this.#colours.get(fates.flow[packet] ?? 0)?.[1] ?? 0;
      place++;
    });
    this.#packets.getContext("2d")?.putImageData(this.#image, 0, 0);
    const side = this.#side;
    const [width, height] = [columns * side, this.#rows * side];
    context.imageSmoothingEnabled = false;
    context.drawImage(this.#packets, LEFT, 0, width, height);
    line(context, this.#theme.text, 3, [LEFT - 4, 0], [LEFT - 4, QUEUE_HEIGHT]);
    if (side < WITH_GAP) return;
    const { ground } = this.#theme;
    for (let at = 0; at <= columns; at++) {
      line(context, ground, 1, [LEFT + at * side, 0], [LEFT + at * side, height]);
    }
    for (let at = 0; at <= this.#rows; at++) {
      line(context, ground, 1, [LEFT, at * side], [LEFT + width, at * side]);
    }
  }

  /** Packets that were dropped a moment ago, on their way down. */
  #drawDrops(context: Drawing, { time, fallS }: Moment): void {
    const { fates } = this.#strip;
    const last = placeAbove(fates.dropTimes, time);
    const side = Math.max(6, this.#side);
    for (let drop = last - 1; drop >= Math.max(0, last - MOST_FALLING); drop--) {
      const age = time - (fates.dropTimes[drop] ?? 0);
      const fallen = fallS > 0 ? age / fallS : 0.5;
      if (fallS > 0 ? age >= fallS : age > 0) break;
      const packet = fates.drops[drop] ?? 0;
      const x = LEFT + ((last - drop) % 40) * (side + 2);
      const y = QUEUE_HEIGHT + fallen * (FALL_HEIGHT - side - 2);
      context.fillStyle = this.#colours.get(fates.flow[packet] ?? 0)?.[0] ?? "";
      context.fillRect(x, y, side, side);
      line(context, this.#theme.text, 1.5, [x, y], [x + side, y + side]);
      line(context, this.#theme.text, 1.5, [x + side, y], [x, y + side]);
    }
  }

  /** Drops, marks, gaps and windows over the whole span. */
  #drawSpan(context: Drawing): void {
    const { fates, marks, calls, windows, who, beginS, lengthS } = this.#strip;
    const top = QUEUE_HEIGHT + FALL_HEIGHT;
    const ticks = (times: number[], y: number, colour: string): void => {
      for (const time of times) {
        line(context, colour, 1, [this.#x(time), y], [this.#x(time), y + LANE - 4]);
      }
    };
    ticks(fates.dropTimes, top, this.#theme.text);
    ticks(marks, top, this.#theme.answer);
    if (who !== "") ticks(calls, top + LANE, this.#theme.limit);
    const low = top + 2 * LANE + WINDOWS_HEIGHT;
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
    if (windows.length > 0) {
      context.fillText(`windows, up to ${plain(most)} packets`, LEFT, top + 2 * LANE + 11);
    }
    const end = `${plain(beginS + lengthS, 5)} s`;
    context.fillText(`${plain(beginS, 5)} s`, LEFT, HEIGHT - 4);
    context.textAlign = "right";
    context.fillText(end, this.#width - 2, HEIGHT - 4);
    context.textAlign = "left";
  }

  #x(time: number): number {
    return LEFT + (time / this.#strip.lengthS) * (this.#width - LEFT - 2);
  }
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
export function momentText(
  { fates, names, beginS }: Strip,
  present: Map<number, number>,
  time: number,
): string {
  const total = [...present.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...present]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 4)
    .map(([flow, count]) => `${names[flow] ?? "?"} ${plain(count)}`);
  const dropped = placeAbove(fates.dropTimes, time);
  const whose = parts.length > 0 ? ` (${parts.join(", ")})` : "";
  return `At ${(beginS + time).toFixed(4)} s: ${plain(total)} at the link${whose}; ${plain(dropped)} dropped so far`;
}

/** What is seen in the whole span, in words. */
export function spanText(strip: Strip, link: string): string {
  const { counts, beginS, lengthS, marked, gapS, who } = strip;
  const gap = gapS === null ? "" : ` The longest gap of ${who} is ${duration(gapS)}.`;
  return (
    `${plain(counts.arrivals, 6)} packets arrive at ${link} from ${plain(beginS, 5)} s to ` +
    `${plain(beginS + lengthS, 5)} s; ${plain(counts.departures, 6)} depart, ${plain(counts.drops, 6)} are dropped, ` +
    `${plain(marked, 6)} are marked. At most ${plain(counts.most, 6)} are at the link at the same time.${gap} ` +
    `The upper ticks are drops${marked > 0 ? ", in green marks" : ""}${who === "" ? "" : `, the lower ones departures of ${who}`}.`
  );
}
