/** Which buffers meet the targets, and which of them is the smallest. */

import { duration, loss, percent } from "../scenario/quantities";
import type { Targets } from "../state";
import { intervalOf, type Metric, type Point, pointAt } from "./point";

export type Verdict = "meets" | "misses" | "undecided";

export interface Target {
  metric: Metric;
  atLeast: boolean;
  bound: number;
  text: string;
}

export function targetsOf(targets: Targets): Target[] {
  const list: Target[] = [];
  const { utilization, delayS, loss: most } = targets;
  if (utilization !== null) {
    const text = `utilization of at least ${percent(utilization, 1)}`;
    list.push({ metric: "utilization", atLeast: true, bound: utilization, text });
  }
  if (delayS !== null) {
    const text = `99 % of the packets wait at most ${duration(delayS)}`;
    list.push({ metric: "delayP99S", atLeast: false, bound: delayS, text });
  }
  if (most !== null) {
    list.push({
      metric: "loss",
      atLeast: false,
      bound: most,
      text: `loss of at most ${loss(most)}`,
    });
  }
  return list;
}

/** Whether the whole 95 % interval meets the bound, misses it, or only a part of it does. */
export function verdictOf(point: Point, target: Target): Verdict {
  const interval = intervalOf(point, target.metric);
  if (!interval) return "undecided";
  const sign = target.atLeast ? 1 : -1;
  const margin = sign * (interval.mean - target.bound);
  if (margin - interval.halfWidth >= 0) return "meets";
  return margin + interval.halfWidth < 0 ? "misses" : "undecided";
}

/** The verdict on a buffer for all targets together. */
export function verdictOfAll(point: Point, targets: Target[]): Verdict {
  const verdicts = targets.map((target) => verdictOf(point, target));
  if (verdicts.includes("misses")) return "misses";
  return verdicts.every((verdict) => verdict === "meets") ? "meets" : "undecided";
}

/** Whether the means meet every target, whatever their intervals are. */
function meansMeet(point: Point, targets: Target[]): boolean {
  return targets.every(({ metric, atLeast, bound }) => {
    const mean = intervalOf(point, metric)?.mean;
    return mean !== undefined && (atLeast ? mean >= bound : mean <= bound);
  });
}

export interface SizeAnswer {
  /** Smallest buffer that meets every target; if none surely does, the smallest whose means do. */
  limit: number | null;
  verdict: Verdict;
  /** Largest smaller buffer that misses a target; 0 if there is none. */
  tooSmall: number;
}

/** The smallest of the buffers that were tried which meets every target. */
export function smallest(points: Map<number, Point>, targets: Target[]): SizeAnswer {
  const limits = [...points.keys()]
    .filter((limit) => points.get(limit)?.size)
    .sort((a, b) => a - b);
  const verdicts = new Map(
    limits.map((limit) => [limit, verdictOfAll(pointAt(points, limit), targets)]),
  );
  const sure = limits.find((limit) => verdicts.get(limit) === "meets");
  const likely = limits.find((limit) => meansMeet(pointAt(points, limit), targets));
  const limit = sure ?? likely ?? null;
  const below = limits.filter((other) => limit === null || other < limit);
  const tooSmall = below.findLast((other) => verdicts.get(other) === "misses") ?? 0;
  const isClosed = limits.length > 0 && limits.every((other) => verdicts.get(other) === "misses");
  const verdict = sure !== undefined ? "meets" : isClosed ? "misses" : "undecided";
  return { limit, verdict, tooSmall };
}

/** The answer as a sentence. */
export function answerText(
  answer: SizeAnswer,
  targets: Target[],
  amounts: (limit: number) => string,
): string {
  const asked = targets.map((target) => target.text).join("; ");
  const { limit, verdict, tooSmall } = answer;
  if (limit === null) {
    return verdict === "misses"
      ? `No buffer that was tried meets them all (${asked}).`
      : `No buffer that was tried meets them all so far (${asked}); the runs do not decide yet.`;
  }
  const small = tooSmall > 0 ? ` ${tooSmall} packets do not meet them.` : "";
  const sure =
    verdict === "meets"
      ? "meets them with 95 % confidence"
      : "meets them in the mean; the runs do not decide yet";
  return `Smallest buffer tried that meets the targets (${asked}): ${amounts(limit)}. It ${sure}.${small}`;
}
