/** The verdict on a buffer in words. */

import { duration, percent, plain } from "../scenario/quantities";
import type { Estimate } from "../study/curve";
import { areSame, pairedDifference } from "../study/paired_runs";
import type { Metric, Point } from "../study/point";
import type { Interval } from "../study/statistics";

/** Differences of utilization below this, a fraction, are of no interest to anybody. */
const NO_DIFFERENCE = 0.0005;
/** Runs below which no difference is told. */
const FEWEST_PAIRS = 2;

export const SAME_UTILIZATION = "the same utilization";

/** Another buffer, with the seeds of the present one. */
export interface Neighbour {
  /** "Half the buffer" */
  name: string;
  /** The buffer as people write it. */
  amount: string;
  point: Point;
}

export interface Evidence {
  /** The runs of the present buffer. */
  own: Point;
  utilization: Metric;
  /** The 99th percentile of the queueing delay of those who are watched. */
  wait: Metric | null;
}

/** Whether the whole 95 % interval of a difference lies on one side of 0. */
export function isSure({ mean, halfWidth }: Interval): boolean {
  return Math.abs(mean) > halfWidth;
}

/** What half and twice of a buffer change; empty while that is not known.
 *
 * @param twice - The name of the buffer that shows whether the limit is ever reached.
 */
export function alternativesText(
  evidence: Evidence,
  neighbours: Neighbour[],
  twice: string,
): string {
  const known = neighbours.filter(({ point }) => point.size >= FEWEST_PAIRS);
  const same = known.filter(({ point }) => areSame(evidence.own, point));
  const sentences = known
    .filter((one) => !same.includes(one))
    .map((one) => changeText(evidence, one));
  if (same.length > 0) {
    const names = same.map(({ name, amount }) => `${name} (${amount})`).join(" and ");
    const give = same.length > 1 ? "give" : "gives";
    const isUnreached = same.some(({ name }) => name === twice);
    const why = isUnreached ? ": the limit is never reached" : "";
    sentences.push(`${names} ${give} the same results, run by run${why}.`);
  }
  return sentences.filter(Boolean).join(" ").replace(" and Twice", " and twice");
}

function changeText(
  { own, utilization, wait }: Evidence,
  { name, amount, point }: Neighbour,
): string {
  const parts = [
    utilizationText(pairedDifference(own, point, utilization)),
    waitText(pairedDifference(own, point, wait)),
  ];
  const said = parts.filter(Boolean).join(" and ");
  return said && `${name} (${amount}): ${said}.`;
}

/** A difference with half of its interval: "4 ± 0.2 percentage points more utilization". */
export function utilizationText(change: Interval | null): string {
  if (!change) return "";
  const size = Math.abs(change.mean);
  if (size < NO_DIFFERENCE && change.halfWidth < NO_DIFFERENCE) return SAME_UTILIZATION;
  const direction = change.mean < 0 ? "less" : "more";
  const points = withHalf(100 * size, 100 * change.halfWidth, (value) => plain(value, 2));
  return `${doubt(change)}${points} percentage points ${direction} utilization`;
}

function waitText(change: Interval | null): string {
  if (!change) return "";
  if (change.mean === 0 && change.halfWidth === 0) return "the same wait";
  return `${doubt(change)}${timeText(change)} ${change.mean < 0 ? "less" : "more"} wait`;
}

/** The size of a difference of times, with half of its interval. */
export function timeText({ mean, halfWidth }: Interval): string {
  const rounded = (value: number): string => duration(Number(value.toPrecision(2)));
  return withHalf(Math.abs(mean), halfWidth, rounded);
}

function doubt(change: Interval): string {
  return isSure(change) ? "" : "perhaps ";
}

function withHalf(size: number, half: number, shown: (value: number) => string): string {
  return half > 0 ? `${shown(size)} ± ${shown(half)}` : shown(size);
}

/** How sure the numbers of the verdict are. */
export function surenessText(utilization: Estimate | null, wait: Estimate | null): string {
  const list = [utilization, wait].filter((one) => one !== null);
  if (list.length === 0) return "";
  const count = Math.min(...list.map((one) => one.count));
  if (list.some((one) => one.isBetween)) {
    return "Estimates between the buffers that were tried; runs of this buffer follow.";
  }
  if (count < 2) return "Simulated: one run of this buffer so far.";
  const [u, w] = [
    utilization && rangeText(utilization, 1, percent),
    wait && rangeText(wait, Infinity, duration),
  ];
  const ranges = [u && `utilization ${u}`, w && `wait ${w}`].filter(Boolean).join(", ");
  return `Simulated: means of ${count} runs with different seeds. 95 % intervals: ${ranges}.`;
}

function rangeText(one: Estimate, most: number, shown: (value: number) => string): string {
  const [low, high] = [
    Math.max(0, one.mean - one.halfWidth),
    Math.min(most, one.mean + one.halfWidth),
  ];
  const [from, to] = [shown(low), shown(high)];
  return from === to ? from : `${from} to ${to}`;
}
