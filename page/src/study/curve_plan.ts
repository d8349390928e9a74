/** The runs of a curve that is only drawn: few values first, more seeds where two cannot be told apart or
 * an interval is wider than the distance to its neighbours, and values between two that differ so much that a third can be told from both. */

import { areApart, isWide } from "./apart";
import { type Metric, type Point, pointAt } from "./point";

const FEWEST_SEEDS = 3;
const MOST_SEEDS = 8;
/** Parts into which the first values divide a curve. */
const PARTS = 4;
/** Two values are so far apart that there is room for another. */
const ROOM = 2;

/** A run of a value. */
export interface Task {
  limit: number;
  /** Number of the seed: 0, 1, ... */
  seed: number;
}

export interface Curve {
  /** The values that may be tried, in ascending order. */
  values: number[];
  /** What the picture of the curve shows. */
  metrics: (Metric | null)[];
  /** Values whose runs failed, as where the queue refuses them; left out, none. */
  lost?: Set<number>;
}

/** The tasks of the next stage; empty at the end.
 *
 * @param also - Values that come first.
 */
export function curvePlan(
  points: Map<number, Point>,
  also: number[],
  { values, metrics, lost }: Curve,
): Task[] {
  const open = (some: number[], seeds: number): Task[] => {
    const taken = some.filter((limit) => !lost?.has(limit));
    for (let seed = 0; seed < seeds; seed++) {
      const tasks = taken.filter((limit) => !points.get(limit)?.has(seed));
      if (tasks.length > 0) return tasks.map((limit) => ({ limit, seed }));
    }
    return [];
  };
  const first = open(also, FEWEST_SEEDS);
  if (first.length > 0) return first;
  const begun = firstOf(values);
  const tried = values.filter((value) => begun.has(value) || points.has(value));
  const few = open(tried, FEWEST_SEEDS);
  if (few.length > 0) return few;
  const pairs = tried.slice(1).map((value, at) => [tried[at] ?? value, value] as const);
  const differ = ([a, b]: readonly [number, number], factor?: number): boolean =>
    areApart(pointAt(points, a), pointAt(points, b), metrics, factor);
  const at = (value: number): Point => pointAt(points, value);
  const wide = tried.filter((value, place) => {
    const neighbours = [tried[place - 1], tried[place + 1]].filter((one) => one !== undefined);
    return isWide(at(value), neighbours.map(at), metrics);
  });
  const unclear = new Set([...pairs.filter((pair) => !differ(pair)).flat(), ...wide]);
  const more = open([...unclear], MOST_SEEDS);
  if (more.length > 0) return more;
  const between = pairs.flatMap(([a, b]) => {
    const [low, high] = [values.indexOf(a), values.indexOf(b)];
    const middle = values[Math.floor((low + high) / 2)];
    return high - low > 1 && middle !== undefined && differ([a, b], ROOM) ? [middle] : [];
  });
  return open(between, 1);
}

/** The values with which a curve begins: its ends, and those that divide it. */
function firstOf(values: number[]): Set<number> {
  const last = values.length - 1;
  const places = Array.from({ length: PARTS + 1 }, (_, part) => Math.round((last * part) / PARTS));
  return new Set(places.flatMap((place) => values[place] ?? []));
}
