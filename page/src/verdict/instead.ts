/** Another queue discipline with which those who are watched wait less. */

import type { DisciplineCurve } from "../frontier/disciplines";
import { withWords } from "../scenario/discipline_words";
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

/** What is known of other disciplines at their usual targets. */
export interface Others {
  /** Those that were tried; empty where none fits the link. */
  kinds: string[];
  /** The one with the shortest wait, if it is surely shorter than with the present queue. */
  best: Instead | null;
}

/** Compares the disciplines that have a target with the present queue; null while runs are missing.
 *
 * @param present.limit - The present buffer, of which `points` has runs.
 */
export function othersOf(
  curves: DisciplineCurve[],
  present: { kind: string; points: Map<number, Point>; limit: number },
  who: string,
): Others | null {
  const wait = metricOf(who, GROUP.delayP99);
  const now = estimateAt(present.points, present.limit, wait);
  const others = curves.filter(({ kind, usual }) => kind !== present.kind && usual !== null);
  const isKnown = ({ usual, points, done }: DisciplineCurve): boolean =>
    done || pointAt(points, usual ?? 0).size >= FEWEST_RUNS;
  if (others.length === 0) return { kinds: [], best: null };
  if (!now || now.isBetween || now.count < FEWEST_RUNS || !others.every(isKnown)) return null;
  const shorter = others
    .flatMap((curve) => atUsual(curve, who, now))
    .sort((a, b) => a.waitS - b.waitS);
  return { kinds: others.map(({ kind }) => kind), best: shorter[0] ?? null };
}

/** What a discipline gives at its usual value, if its wait is surely shorter than `now`. */
function atUsual(
  { kind, axis, usual, points }: DisciplineCurve,
  who: string,
  now: Estimate,
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

export function othersText({ kinds, best }: Others, who: string): string {
  if (kinds.length === 0) return "";
  if (!best) {
    return `None of the other disciplines at their usual targets (${kinds.join(", ")}) surely makes packets of ${who} wait less.`;
  }
  const { kind, value, runs, utilization, waitS, meanWaitS } = best;
  const grade = meanWaitS === null ? "" : ` (grade ${gradeOf(meanWaitS)})`;
  return (
    `With ${withWords(kind)} and its usual target of ${duration(value / US)}, 99 of 100 packets of ${who} wait ` +
    `at most ${duration(waitS)}${grade}, and the link is used to ${percent(utilization, 1)} (means of ${runs} runs).`
  );
}
