/** A picture as SVG: for files, with its title and its legend. */

import {
  AREA_OPACITY,
  BAR_OPACITY,
  colourOf,
  colourOfMark,
  dashesOf,
  heights,
  LIGHT,
  rangeOf,
  type Axis,
  type Line,
  type Picture,
} from "./picture";
import { linearTicks, logTicks, tickText } from "./scales";
import { addressLines, wordLines, type Source } from "./source";

const WIDTH = 720;
const HEIGHT = 400;
const BOX = { left: 76, top: 40, right: WIDTH - 16, bottom: 300 };
/** Height of a line below the picture, and of one of the address. */
const NOTE_LINE = 15;
const ADDRESS_LINE = 9;
const FONT = "font-family=\"'DejaVu Sans', system-ui, sans-serif\"";

export function escapeXml(text: string): string {
  const names: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  // Characters that XML does not have would make the file invalid.
  const allowed = text.replace(
    /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,
    "\ufffd",
  );
  return allowed.replace(/[&<>"']/g, (character) => names[character] ?? "");
}

type Scale = (value: number) => number;

function scaleOf(axis: Axis, [low, high]: [number, number], from: number, to: number): Scale {
  const of = (value: number): number => (axis.log ? Math.log(value) : value);
  return (value) => {
    if (axis.log && value <= 0) return from;
    const at = from + ((of(value) - of(low)) / (of(high) - of(low))) * (to - from);
    return Math.min(1e5, Math.max(-1e5, at));
  };
}

const number = (value: number): string => String(Number(value.toFixed(2)));

/** Returns the picture as the text of an SVG file.
 *
 * @param source - Where the picture comes from, which stands below it.
 */
export function svgText(picture: Picture, source: Source | null = null): string {
  const [rangeX, rangeY] = [rangeOf(picture, "x"), rangeOf(picture, "y")];
  const x = scaleOf(picture.x, rangeX, BOX.left, BOX.right);
  const y = scaleOf(picture.y, rangeY, BOX.bottom, BOX.top);
  const rows = Math.ceil(picture.lines.length / 4);
  const below = HEIGHT + Math.max(0, rows - 2) * 18;
  const height = below + (source ? noteHeight(source) : 0);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" ` +
      `height="${height}" role="img" ${FONT} font-size="12">`,
    `<title>${escapeXml(picture.title)}</title>`,
    `<rect width="100%" height="100%" fill="${LIGHT.ground}"/>`,
    `<clipPath id="box"><rect x="${BOX.left}" y="${BOX.top}" width="${BOX.right - BOX.left}" ` +
      `height="${BOX.bottom - BOX.top}"/></clipPath>`,
    `<text x="${BOX.left}" y="24" font-size="15" font-weight="bold">${escapeXml(picture.title)}</text>`,
    `<g clip-path="url(#box)">${shades(picture, x, y)}</g>`,
    axes(picture, rangeX, rangeY, x, y),
    `<g clip-path="url(#box)" fill="none">${lines(picture, x, y)}</g>`,
    marks(picture, x, y),
    legend(picture),
    source ? note(source, below) : "",
    "</svg>\n",
  ].join("\n");
}

function shades(picture: Picture, x: Scale, y: Scale): string {
  return picture.shades
    .map((shade) => {
      const across = shade.axis === "x";
      const [a, b] = across ? [x(shade.from), x(shade.to)] : [y(shade.from), y(shade.to)];
      const [low, size] = [Math.min(a, b), Math.abs(a - b)];
      const other = shade.across?.map(across ? y : x);
      const [from, length] = other
        ? [Math.min(...other), Math.abs((other[0] ?? 0) - (other[1] ?? 0))]
        : [0, WIDTH];
      const place = across
        ? `x="${number(low)}" y="${number(from)}" width="${number(size)}" height="${number(length)}"`
        : `x="${number(from)}" y="${number(low)}" width="${number(length)}" height="${number(size)}"`;
      return `<rect ${place} fill="${LIGHT[shade.kind]}"/>`;
    })
    .join("");
}

function axes(
  picture: Picture,
  rangeX: [number, number],
  rangeY: [number, number],
  x: Scale,
  y: Scale,
): string {
  const ticksX = (picture.x.log ? logTicks : linearTicks)(...rangeX);
  const ticksY = (picture.y.log ? logTicks : linearTicks)(...rangeY);
  const grid = `stroke="${LIGHT.grid}"`;
  const parts = ticksX.map((at) => {
    const place = number(x(at));
    return (
      `<path d="M${place} ${BOX.top}V${BOX.bottom}" ${grid}/>` +
      `<text x="${place}" y="${BOX.bottom + 16}" text-anchor="middle">` +
      `${tickText(at, picture.x.percent)}</text>`
    );
  });
  for (const at of ticksY) {
    const place = number(y(at));
    parts.push(
      `<path d="M${BOX.left} ${place}H${BOX.right}" ${grid}/>` +
        `<text x="${BOX.left - 6}" y="${place}" text-anchor="end" dominant-baseline="middle">` +
        `${tickText(at, picture.y.percent)}</text>`,
    );
  }
  const [middleX, middleY] = [(BOX.left + BOX.right) / 2, (BOX.top + BOX.bottom) / 2];
  parts.push(
    `<text x="${middleX}" y="${BOX.bottom + 34}" text-anchor="middle">` +
      `${escapeXml(picture.x.label)}</text>`,
    `<text transform="translate(16 ${middleY}) rotate(-90)" text-anchor="middle">` +
      `${escapeXml(picture.y.label)}</text>`,
  );
  return parts.join("\n");
}

function lines(picture: Picture, x: Scale, y: Scale): string {
  const drawn = heights(picture);
  return picture.lines
    .map((line, place) => {
      const colour = colourOf(line.style, LIGHT);
      const below = picture.lines[place - 1]?.area ? drawn[place - 1] : undefined;
      if (line.area) return area(picture, [drawn[place] ?? [], below ?? []], colour, x, y);
      const dashes = picture.lines.length > 1 ? dashesOf(line).join(" ") : "";
      const path = pathOf(picture, line, x, y);
      const dots = line.markers ? markers(picture, line, colour, x, y) : "";
      return (
        band(picture, line, colour, x, y) +
        bars(picture, line, colour, x, y) +
        `<path d="${path}" stroke="${colour}" stroke-width="1.4" stroke-dasharray="${dashes}"/>` +
        dots
      );
    })
    .join("\n");
}

function isDrawn(value: number | null | undefined, picture: Picture): value is number {
  return value !== null && value !== undefined && !(picture.y.log && value <= 0);
}

function pathOf(picture: Picture, line: Line, x: Scale, y: Scale): string {
  const { xs } = picture;
  const places = (line.route ?? [...xs.keys()]).flatMap((place) => {
    const [at, value] = [xs[place], line.y[place]];
    const isPoint = at !== undefined && isDrawn(value, picture);
    return isPoint ? [`${number(x(at))} ${number(y(value))}`] : [];
  });
  return places.length > 0 ? `M${places.join("L")}` : "";
}

/** What is between the heights of an area and of the one below it. */
function area(
  picture: Picture,
  [above, below]: [(number | null)[], (number | null)[]],
  colour: string,
  x: Scale,
  y: Scale,
): string {
  const curve = (values: (number | null)[]): string[] =>
    picture.xs.map((at, place) => `${number(x(at))} ${number(y(values[place] ?? 0))}`);
  if (picture.xs.length === 0) return "";
  const path = [...curve(above), ...curve(below).reverse()].join("L");
  const edge = `stroke="${LIGHT.ground}" stroke-width="0.4"`;
  return `<path d="M${path}Z" fill="${colour}" fill-opacity="${AREA_OPACITY}" ${edge}/>`;
}

function band(picture: Picture, line: Line, colour: string, x: Scale, y: Scale): string {
  const { low, high } = line;
  if (!low || !high) return "";
  const known = picture.xs.flatMap((at, place) => {
    const [a, b] = [low[place], high[place]];
    if (a === null || a === undefined || !isDrawn(b, picture)) return [];
    return [{ at: number(x(at)), low: number(y(a)), high: number(y(b)) }];
  });
  if (known.length < 2) return "";
  const above = known.map((one) => `${one.at} ${one.high}`);
  const below = known.map((one) => `${one.at} ${one.low}`).reverse();
  return `<path d="M${[...above, ...below].join("L")}Z" fill="${colour}" fill-opacity="0.18"/>`;
}

/** The intervals around points: a stroke in either direction. */
function bars(picture: Picture, line: Line, colour: string, x: Scale, y: Scale): string {
  const strokes = (line.bars ?? []).flatMap((bar, place) => {
    const [at, value] = [picture.xs[place], line.y[place]];
    if (!bar || at === undefined || !isDrawn(value, picture)) return [];
    const [left, right, low, high] = [...bar.x.map(x), ...bar.y.map(y)].map(number);
    return [`M${left} ${number(y(value))}H${right}M${number(x(at))} ${low}V${high}`];
  });
  if (strokes.length === 0) return "";
  const look = `stroke="${colour}" stroke-width="1.2" stroke-opacity="${BAR_OPACITY}"`;
  return `<path d="${strokes.join("")}" ${look}/>`;
}

function markers(picture: Picture, line: Line, colour: string, x: Scale, y: Scale): string {
  return picture.xs
    .map((at, place) => {
      const value = line.y[place];
      if (!isDrawn(value, picture)) return "";
      const centre = `cx="${number(x(at))}" cy="${number(y(value))}"`;
      const [radius, fill] = line.size === undefined ? [3, LIGHT.ground] : [line.size / 2, colour];
      return `<circle ${centre} r="${radius}" fill="${fill}" stroke="${colour}"/>`;
    })
    .join("");
}

function marks(picture: Picture, x: Scale, y: Scale): string {
  let row = 0;
  // Written after all lines, so that none crosses a label.
  const labels: string[] = [];
  const lines = picture.marks
    .map((mark) => {
      const across = mark.axis === "y";
      const at = across ? y(mark.at) : x(mark.at);
      const [low, high] = across ? [BOX.top, BOX.bottom] : [BOX.left, BOX.right];
      if (at < low - 0.5 || at > high + 0.5) return "";
      const colour = colourOfMark(mark.kind, LIGHT);
      const isAnswer = mark.kind === "answer";
      const place = number(at);
      const path = across
        ? `M${BOX.left} ${place}H${BOX.right}`
        : `M${place} ${BOX.top}V${BOX.bottom}`;
      const line =
        `<path d="${path}" stroke="${colour}" stroke-width="${isAnswer ? 2.5 : 1.2}" ` +
        `stroke-dasharray="${isAnswer ? "" : "4 3"}"/>`;
      const isFar = at > (BOX.left + BOX.right) / 2;
      const where = across
        ? `x="${BOX.right - 4}" y="${number(at - 4)}" text-anchor="end"`
        : `x="${number(at + (isFar ? -4 : 4))}" y="${BOX.top + 12 + 13 * (row++ % 6)}" ` +
          `text-anchor="${isFar ? "end" : "start"}"`;
      const under = `paint-order="stroke" stroke="${LIGHT.ground}" stroke-width="4"`;
      const text = `${where} fill="${colour}" font-size="11" ${under}`;
      labels.push(`<text ${text}>${escapeXml(mark.label)}</text>`);
      return line;
    })
    .join("\n");
  return [lines, ...labels].join("\n");
}

function legend(picture: Picture): string {
  if (picture.lines.length < 2) return "";
  return picture.lines
    .map((line, place) => {
      const left = BOX.left + (place % 4) * 160;
      const top = BOX.bottom + 58 + Math.floor(place / 4) * 18;
      const stroke = `stroke="${colourOf(line.style, LIGHT)}" stroke-width="1.6"`;
      const dashes = `stroke-dasharray="${dashesOf(line).join(" ")}"`;
      const colour = `fill="${colourOf(line.style, LIGHT)}"`;
      const sample = line.area
        ? `<rect x="${left}" y="${top - 6}" width="26" height="12" ${colour} fill-opacity="${AREA_OPACITY}"/>`
        : line.size === undefined
          ? `<path d="M${left} ${top}h26" ${stroke} ${dashes}/>`
          : `<circle cx="${left + 13}" cy="${top}" r="5" ${colour}/>`;
      return sample + `<text x="${left + 32}" y="${top + 4}">${escapeXml(line.label)}</text>`;
    })
    .join("\n");
}

function wordsOf({ title, settings }: Source): string[] {
  return [title, settings].flatMap(wordLines);
}

function noteHeight(source: Source): number {
  const lines = addressLines(source.address).length;
  return wordsOf(source).length * NOTE_LINE + lines * ADDRESS_LINE;
}

/** Scenario and settings, which lead to the page, and the address for readers on paper. */
function note(source: Source, top: number): string {
  const { address } = source;
  const text = (content: string, y: number, look: string): string =>
    `<text x="${BOX.left}" y="${y}" ${look}>${escapeXml(content)}</text>`;
  const quiet = `fill="${LIGHT.limit}"`;
  const words = wordsOf(source).map((line, place) =>
    text(line, top + place * NOTE_LINE, `${quiet} font-size="11"`),
  );
  const mono = 'font-family="\'DejaVu Sans Mono\', monospace" font-size="7"';
  const lines = addressLines(address).map((line, place) =>
    text(line, top + words.length * NOTE_LINE + place * ADDRESS_LINE - 4, `${quiet} ${mono}`),
  );
  const parts = [...words, ...lines].join("\n");
  return address === "" ? parts : `<a href="${escapeXml(address)}">\n${parts}\n</a>`;
}
