/** The verdict on a buffer in words. */

import { duration, packets, percent, plain } from "../scenario/quantities";
import { estimateAt, type Estimate } from "../study/curve";
import type { Metric, Point } from "../study/point";

/** Differences of utilization below this, a fraction, are of no interest to anybody. */
const NO_DIFFERENCE = 0.0005;
const HALF = 0.5;

export interface Evidence {
  points: Map<number, Point>;
  utilization: Metric;
  /** The 99th percentile of the queueing delay of those who are watched. */
  wait: Metric | null;
}

interface Difference {
  by: number;
  /** Whether both 95 % intervals together are narrower than the difference. */
  isSure: boolean;
}

export function difference(from: Estimate | null, to: Estimate | null): Difference | null {
  if (!from || !to) return null;
  const by = to.mean - from.mean;
  return { by, isSure: Math.abs(by) > Math.hypot(from.halfWidth, to.halfWidth) };
}

/** What half and twice of a buffer change; empty while that is not known. */
export function alternativesText(evidence: Evidence, limit: number): string {
  const half = Math.max(1, Math.round(limit * HALF));
  const sentences = [
    half < limit ? changeText(evidence, limit, half, "Half the buffer") : "",
    changeText(evidence, limit, 2 * limit, "Twice the buffer"),
  ];
  return sentences.filter(Boolean).join(" ");
}

function changeText(evidence: Evidence, from: number, to: number, name: string): string {
  const { points, utilization, wait } = evidence;
  const changeOf = (metric: Metric | null): Difference | null =>
    difference(estimateAt(points, from, metric), estimateAt(points, to, metric));
  const parts = [utilizationText(changeOf(utilization)), waitText(changeOf(wait))];
  const said = parts.filter(Boolean).join(" and ");
  return said && `${name} (${packets(to)}): ${said}.`;
}

function utilizationText(change: Difference | null): string {
  if (!change) return "";
  const size = Math.abs(change.by);
  if (size < NO_DIFFERENCE) return "the same utilization";
  const direction = change.by < 0 ? "less" : "more";
  const points = `${plain(100 * size, 2)} percentage points ${direction} utilization`;
  return change.isSure ? points : `perhaps ${points}`;
}

function waitText(change: Difference | null): string {
  if (!change) return "";
  if (change.by === 0) return "the same wait";
  const size = Math.abs(change.by);
  const shown = `${duration(Number(size.toPrecision(2)))} ${change.by < 0 ? "less" : "more"} wait`;
  return change.isSure ? shown : `perhaps ${shown}`;
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
