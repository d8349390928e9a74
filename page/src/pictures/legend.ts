/** The legend of a picture on the screen: its lines as they are drawn, and the values under the pointer. */

import type uPlot from "uplot";
import { AREA_OPACITY, colourOf, dashesOf, fillOf, type Line, type Theme } from "./picture";

/** Opacity of areas as the end of a colour. */
export const AREA = Math.round(255 * AREA_OPACITY).toString(16);

/** The look of a line in the legend, as the background of an element that is as high as the line. */
function sampleOf(line: Line, isOne: boolean, theme: Theme): string {
  if (line.area) return `${fillOf(line.style, theme)}${AREA}`;
  const colour = colourOf(line.style, theme);
  const dashes = isOne || line.size !== undefined ? [] : dashesOf(line);
  let at = 0;
  const stops = dashes.map((length, place) => {
    const from = at;
    at += length;
    return `${place % 2 === 0 ? colour : "transparent"} ${from}px ${at}px`;
  });
  return stops.length > 0 ? `repeating-linear-gradient(to right, ${stops.join(", ")})` : colour;
}

/** Settings of the legend. `lineOf` gives the line of a series, or null for the end of an interval. */
export function legendOf(
  lines: Line[],
  lineOf: (series: number) => Line | null,
  theme: Theme,
): uPlot.Legend {
  const fill = (_: uPlot, series: number): string => {
    const line = lineOf(series);
    return line ? sampleOf(line, lines.length === 1, theme) : "";
  };
  return { show: true, live: true, markers: { show: true, width: 0, fill } };
}

/** Prepares the rows of a new plot. */
export function dressLegend(
  { root }: uPlot,
  lines: Line[],
  lineOf: (series: number) => Line | null,
): void {
  root.classList.toggle("one-line", lines.length === 1);
  root.querySelectorAll<HTMLElement>(".u-series").forEach((row, series) => {
    const line = lineOf(series);
    // The ends of intervals are drawn, and have no entry; the first one is the position.
    row.hidden = series > 0 && line === null;
    row.classList.toggle("area", line?.area === true);
    row.classList.toggle("spot", line?.size !== undefined);
  });
}

/** Values are there while the pointer is in this picture, or in one that shares it. */
export function followPointer({ root, cursor }: uPlot): void {
  root.classList.toggle("pointed", cursor.idx !== null && cursor.idx !== undefined);
}
