/** Another queue discipline with which those who are watched wait less. */

import type { DisciplineCurve } from "../frontier/disciplines";
import { duration, percent } from "../scenario/quantities";
import type { Axis } from "../study/axis";
import { estimateAt, type Estimate } from "../study/curve";
import { GROUP, intervalOf, metricOf, pointAt, type Point } from "../study/point";
import { gradeOf } from "./grade";
import { difference } from "./sentence";

const US = 1e6;
/** Runs without which nothing is said of a discipline: those that each of its points gets. */
const FEWEST_RUNS = 3;

export interface Instead {
  kind: string;
  axis: Axis;
  /** The usual value of the axis. */
  value: number;
  runs: number;
  utilization: number;
  waitS: number;
  /** Mean wait, for the grade. */
  meanWaitS: number | null;
}

/** Of the disciplines at their usual targets the one with the shortest wait, if it is surely shorter than
 * with the present queue.
 *
 * @param limit - The present buffer, of which `points` has runs.
 */
export function insteadOf(
  curves: DisciplineCurve[],
  present: { kind: string; points: Map<number, Point>; limit: number },
  who: string,
): Instead | null {
  const wait = metricOf(who, GROUP.delayP99);
  const now = estimateAt(present.points, present.limit, wait);
  const others = curves
    .filter(({ kind }) => kind !== present.kind)
    .flatMap((curve) => atUsual(curve, who, now))
    .sort((a, b) => a.waitS - b.waitS);
  return others[0] ?? null;
}

/** What a discipline gives at its usual value, if its wait is surely shorter than `now`. */
function atUsual(
  { kind, axis, usual, points }: DisciplineCurve,
  who: string,
  now: Estimate | null,
): Instead[] {
  if (usual === null) return [];
  const point = pointAt(points, usual);
  const [used, wait, mean] = [
    intervalOf(point, "utilization"),
    intervalOf(point, metricOf(who, GROUP.delayP99)),
    intervalOf(point, metricOf(who, GROUP.delayMean)),
  ];
  if (!used || !wait || wait.count < FEWEST_RUNS) return [];
  const change = difference(now, { ...wait, isBetween: false });
  if (!change?.isSure || change.by >= 0) return [];
  return [
    {
      kind,
      axis,
      value: usual,
      runs: wait.count,
      utilization: used.mean,
      waitS: wait.mean,
      meanWaitS: mean?.mean ?? null,
    },
  ];
}

export function insteadText(instead: Instead, who: string): string {
  const { kind, value, runs, utilization, waitS, meanWaitS } = instead;
  const grade = meanWaitS === null ? "" : ` (grade ${gradeOf(meanWaitS)})`;
  return (
    `With ${kind} and its usual target of ${duration(value / US)}, ${who} waits at most ` +
    `${duration(waitS)}${grade}, and the link is used to ${percent(utilization, 1)} (means of ${runs} runs).`
  );
}
