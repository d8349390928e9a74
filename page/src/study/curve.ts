/** A metric over the buffer between the buffers that were tried. */

import { intervalOf, type Metric, type Point } from "./point";
import type { Interval } from "./statistics";

export interface Estimate extends Interval {
  /** Whether the value lies between those of two buffers that were tried. */
  isBetween: boolean;
}

type Known = [limit: number, interval: Interval];

function known(points: Map<number, Point>, metric: Metric | null): Known[] {
  return [...points]
    .flatMap(([limit, point]): Known[] => {
      const interval = intervalOf(point, metric);
      return interval ? [[limit, interval]] : [];
    })
    .sort(([a], [b]) => a - b);
}

/** A metric at a buffer: its mean there, or on the line between its neighbours over the logarithm of
 * the buffer; null outside the buffers that were tried. */
export function estimateAt(
  points: Map<number, Point>,
  limit: number,
  metric: Metric | null,
): Estimate | null {
  const list = known(points, metric);
  const at = list.findIndex(([other]) => other >= limit);
  const [above, below] = [list[at], list[at - 1]];
  if (!above) return null;
  if (above[0] === limit) return { ...above[1], isBetween: false };
  if (!below) return null;
  const part = Math.log(limit / below[0]) / Math.log(above[0] / below[0]);
  const [low, high] = [below[1], above[1]];
  return {
    mean: low.mean + part * (high.mean - low.mean),
    halfWidth: Math.max(low.halfWidth, high.halfWidth),
    count: Math.min(low.count, high.count),
    isBetween: true,
  };
}

/** The buffer at which a metric that grows with the buffer is nearest to a value, in whole units.
 *
 * @returns null if nothing was tried.
 */
export function limitWhere(
  points: Map<number, Point>,
  metric: Metric | null,
  value: number,
): number | null {
  const list = known(points, metric);
  const at = list.findIndex(([, { mean }]) => mean > value);
  const [above, below] = [list[at], list[at - 1]];
  if (!above) return list.at(-1)?.[0] ?? null;
  if (!below) return above[0];
  const part = (value - below[1].mean) / (above[1].mean - below[1].mean);
  return Math.round(below[0] * (above[0] / below[0]) ** Math.min(1, Math.max(0, part)));
}
