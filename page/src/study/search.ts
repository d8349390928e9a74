/** The search for the smallest sufficient buffer, which is that of `tailroom size`. */

import { here } from "../engine/here";
import { within, type BufferRange } from "../rules/buffer_units";
import { hasLowerBounds, type Point, pointAt } from "./point";
import type { Target } from "./target";

/** Half-width of the interval that ends a search, relative to the answer. */
export const PRECISION = 0.06;
/** Runs of a buffer at most. */
const MOST_RUNS = 32;

/** Where the mean of a metric crosses its bound, with the 95 % interval; in steps. */
export interface Crossing {
  estimate: number;
  low: number;
  high: number;
}

/** The next runs of a search, or its end. */
export interface SearchStep {
  /** The number of runs that each limit needs next; empty at the end. */
  wanted: Record<string, number>;
  /** The smallest sufficient limit; null before the end, and after a refusal. */
  interval: Crossing | null;
  /** The next whole limit above the interval. */
  answer: number | null;
  /** By target; null if the target does not decide on the answer. Empty without an interval. */
  crossings: (Crossing | null)[];
  /** Why the search cannot answer. */
  refused: string | null;
}

/** The next step by the runs so far, between two limits of which the larger alone meets the targets.
 *
 * @param scan - The limits that were tried first, in ascending order, each with the first seed.
 */
export function searchStep(
  points: Map<number, Point>,
  scan: number[],
  range: BufferRange,
  targets: Target[],
): SearchStep {
  const { smallest, largest, digits } = range;
  const bounded = targets.find(({ metric }) =>
    [...points.values()].some((point) => hasLowerBounds(point, metric)),
  );
  if (bounded) return refusal(`some values are only lower bounds (${bounded.text})`);
  const limits = bracket(points, scan, range, targets);
  if (!limits) return refusal("no tried buffer begins to meet the targets");
  const runs = [...points].map(([limit, point]) => [limit, valuesOf(point, targets)] as const);
  const question = {
    targets: targets.map(({ metric, atLeast, bound, highest, text }) => ({
      text,
      metric,
      at_least: atLeast,
      bound,
      highest,
    })),
    precision: PRECISION,
    smallest,
    largest,
    max_seeds: MOST_RUNS,
    is_whole: digits === undefined,
    limits,
    runs: Object.fromEntries(runs),
  };
  return JSON.parse(here().size_search_step(JSON.stringify(question))) as SearchStep;
}

function refusal(why: string): SearchStep {
  return { wanted: {}, interval: null, answer: null, crossings: [], refused: why };
}

/** By target, its metric in the runs of a buffer, by seed, up to the first run that has not ended. */
function valuesOf(point: Point, targets: Target[]): number[][] {
  let count = 0;
  while (targets.every(({ metric }) => (point.get(count)?.[metric] ?? null) !== null)) count++;
  const seeds = Array.from({ length: count }, (_, seed) => seed);
  return targets.map(({ metric }) => seeds.map((seed) => point.get(seed)?.[metric] ?? 0));
}

/** The largest tried limit whose first run misses a target that the next one meets, the next one, and a
 * limit between them. */
function bracket(
  points: Map<number, Point>,
  scan: number[],
  range: BufferRange,
  targets: Target[],
): number[] | null {
  const meets = (limit: number, { metric, atLeast, bound }: Target): boolean => {
    const value = pointAt(points, limit).get(0)?.[metric] ?? null;
    return value !== null && (atLeast ? value >= bound : value <= bound);
  };
  const begins = (target: Target): number =>
    scan.findLastIndex(
      (limit, at) => at > 0 && meets(limit, target) && !meets(scan[at - 1] ?? 0, target),
    );
  const at = Math.max(...targets.map(begins));
  const [low, high] = [scan[at - 1], scan[at]];
  if (at < 1 || low === undefined || high === undefined) return null;
  return [low, within(range, Math.sqrt(low * high)), high];
}
