/** Which values of a curve can be told apart by their runs. */

import { intervalOf, type Metric, type Point, pointAt } from "./point";

/** Differences below these are of no interest to anybody, however sure they are: of utilization, a fraction;
 * of times, relative to the smaller one. */
const LEAST = { utilization: 0.0005, time: 0.01 };

/** Whether two values differ in one of the metrics by more than both 95 % intervals together.
 *
 * @param factor - By how many times as much.
 */
export function areApart(a: Point, b: Point, metrics: (Metric | null)[], factor = 1): boolean {
  return metrics.some((metric) => {
    const [one, other] = [intervalOf(a, metric), intervalOf(b, metric)];
    if (!one || !other) return false;
    const both = Math.hypot(one.halfWidth, other.halfWidth);
    const least = leastOf(metric, Math.min(one.mean, other.mean));
    return Math.abs(one.mean - other.mean) > factor * Math.max(both, least);
  });
}

function leastOf(metric: Metric | null, mean: number): number {
  return metric === "utilization" ? LEAST.utilization : LEAST.time * mean;
}

/** Whether half an interval of a value is wider than the distance to a neighbour, so that the curve may
 * turn back there by chance. */
export function isWide(point: Point, neighbours: Point[], metrics: (Metric | null)[]): boolean {
  return metrics.some((metric) => {
    const one = intervalOf(point, metric);
    if (!one || one.halfWidth <= leastOf(metric, one.mean)) return false;
    const others = neighbours.flatMap((neighbour) => intervalOf(neighbour, metric) ?? []);
    return others.some(({ mean }) => Math.abs(mean - one.mean) < one.halfWidth);
  });
}

/** The values that differ from their neighbours among those that are returned, in ascending order.
 *
 * @param anchor - A value that is returned in any case; null for the smallest.
 */
export function toldApart(
  points: Map<number, Point>,
  metrics: (Metric | null)[],
  anchor: number | null,
): number[] {
  const values = [...points.keys()].sort((a, b) => a - b);
  const known = values.filter((value) => pointAt(points, value).size > 1);
  // One run has no interval: the shape of the curve is all that there is.
  if (known.length < 2) return values;
  const at = Math.max(0, anchor === null ? 0 : known.indexOf(anchor));
  const walk = (list: number[]): number[] =>
    list.reduce<number[]>((kept, value) => {
      const last = kept.at(-1);
      const differs =
        last === undefined || areApart(pointAt(points, last), pointAt(points, value), metrics);
      return differs ? [...kept, value] : kept;
    }, []);
  const [below, above] = [walk(known.slice(0, at + 1).reverse()), walk(known.slice(at))];
  return [...below.slice(1).reverse(), ...above];
}
