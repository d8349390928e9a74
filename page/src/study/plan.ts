/** Which run comes next: the buffer in question first, then few buffers, then the answer, then more buffers, then more seeds. */

import { within, type BufferRange } from "../rules/buffer_units";
import { smallest, verdictOfAll } from "./answer";
import { curvePlan, type Curve, type Task } from "./curve_plan";
import { intervalOf, type Point, pointAt } from "./point";
import { searchStep, type SearchStep } from "./search";
import type { Target } from "./target";

export const COARSE = 9;
export const FINE = 17;
export const MOST_SEEDS = 8;
const FEWEST_SEEDS = 3;
/** Buffers that are added between the answer and the largest buffer that is too small. */
const MOST_ADDED = 6;
/** The answer is close enough if the next smaller buffer is smaller by less than this factor. */
const CLOSE = 1.15;

/** A buffer gets no more seeds when its intervals are this narrow. */
export const WIDTH = { utilization: 0.005, delay: 0.05 };

/** Buffers from the smallest to the largest, evenly spread over the logarithm, each once. */
export function spread(range: BufferRange, count: number): number[] {
  const { smallest, largest } = range;
  const limits = Array.from({ length: count }, (_, place) =>
    within(range, smallest * (largest / smallest) ** (place / (count - 1))),
  );
  return [...new Set(limits)];
}

export interface Plan {
  /** Tasks of the next stage that are not done, in the order in which they shall begin; empty at the
   * end. */
  tasks: Task[];
  /** The search for the answer as far as it got; null without targets, and before it begins. */
  search: SearchStep | null;
}

/** How many runs a study spends. */
export interface Effort {
  /** Buffers that are wanted in addition to those of the plan, with as many seeds as an interval needs. */
  also: number[];
  /** The curve that is all that the study is for; null for a study with an answer. */
  curve: Curve | null;
}

export const WHOLE: Effort = { also: [], curve: null };

export function plan(
  points: Map<number, Point>,
  range: BufferRange,
  targets: Target[],
  { also, curve }: Effort = WHOLE,
): Plan {
  if (curve) return { tasks: curvePlan(points, also, curve), search: null };
  const open = (limits: number[], seed: number): Task[] =>
    limits.filter((limit) => !points.get(limit)?.has(seed)).map((limit) => ({ limit, seed }));
  for (let seed = 0; seed < FEWEST_SEEDS; seed++) {
    const tasks = open(also, seed);
    if (tasks.length > 0) return { tasks, search: null };
  }
  const scan = spread(range, COARSE);
  const first = open(scan, 0);
  if (first.length > 0) return { tasks: first, search: null };
  const search = targets.length > 0 ? searchStep(points, scan, range, targets) : null;
  const wanted = search ? wantedTasks(points, search) : [];
  if (wanted.length > 0) return { tasks: wanted, search };
  const more = open(spread(range, FINE), 0);
  if (more.length > 0) return { tasks: more, search };
  // Buffers are judged one by one where the search has no answer.
  const judged = search?.interval ? [] : targets;
  for (let seed = 0; seed < MOST_SEEDS; seed++) {
    const rough = [...points.keys()]
      .sort((a, b) => a - b)
      .filter((limit) => !isPrecise(limit, pointAt(points, limit), judged));
    const tasks = open(rough, seed);
    if (tasks.length > 0) return { tasks, search };
  }
  const added = between(points, range, judged);
  return { tasks: added === null ? [] : open([added], 0), search };
}

function wantedTasks(points: Map<number, Point>, { wanted }: SearchStep): Task[] {
  return Object.entries(wanted).flatMap(([key, runs]) => {
    const limit = Number(key);
    const seeds = Array.from({ length: runs }, (_, seed) => seed);
    return seeds.filter((seed) => !points.get(limit)?.has(seed)).map((seed) => ({ limit, seed }));
  });
}

function isPrecise(limit: number, point: Point, targets: Target[]): boolean {
  if (point.size < FEWEST_SEEDS) return false;
  const utilization = intervalOf(point, "utilization");
  const delay = intervalOf(point, "delayP99S");
  const isNarrow =
    (utilization?.halfWidth ?? 0) <= WIDTH.utilization &&
    (delay?.halfWidth ?? 0) <= WIDTH.delay * (delay?.mean ?? 0);
  return isNarrow && (targets.length === 0 || verdictOfAll(limit, point, targets) !== "undecided");
}

/** A buffer between the answer and the next smaller one; null if they are close. */
function between(points: Map<number, Point>, range: BufferRange, targets: Target[]): number | null {
  if (targets.length === 0) return null;
  const { limit } = smallest(points, targets);
  const regular = spread(range, FINE).length;
  if (limit === null || points.size >= regular + MOST_ADDED) return null;
  const below = Math.max(0, ...[...points.keys()].filter((other) => other < limit));
  const middle = within(range, Math.sqrt(Math.max(1, below) * limit));
  return below === 0 || limit / below < CLOSE || points.has(middle) ? null : middle;
}
