/** Which buffers meet the targets, and which of them is the smallest. */

import { duration, loss, percent } from "../scenario/quantities";
import type { Targets } from "../state";
import { AT_MOST, GROUP, groupOf, intervalOf, type Metric, type Point, pointAt } from "./point";
import type { Crossing, SearchStep } from "./search";
import type { Target } from "./target";

export type Verdict = "meets" | "misses" | "undecided";

export function targetsOf(targets: Targets): Target[] {
  const list: Target[] = [];
  const { utilization, delayS, loss: most } = targets;
  if (utilization !== null) {
    const text = `utilization of at least ${percent(utilization, 1)}`;
    list.push({ metric: "utilization", atLeast: true, bound: utilization, highest: 1, text });
  }
  if (delayS !== null) {
    const text = `99 % of the packets wait at most ${duration(delayS)}`;
    list.push({ metric: "delayP99S", atLeast: false, bound: delayS, highest: null, text });
  }
  if (most !== null) {
    list.push({
      metric: "loss",
      atLeast: false,
      bound: most,
      highest: 1,
      text: `loss of at most ${loss(most)}`,
    });
  }
  for (const [metric, bound] of Object.entries(targets.groups)) {
    const text = groupTargetText(metric, bound);
    list.push({ metric, atLeast: false, bound, highest: null, text });
  }
  return list;
}

/** The targets without those of groups that a scenario does not have. */
export function targetsWith(targets: Targets, names: string[]): Targets {
  const groups = Object.entries(targets.groups).filter(([metric]) =>
    names.includes(groupOf(metric)),
  );
  return { ...targets, groups: Object.fromEntries(groups) };
}

function groupTargetText(metric: Metric, bound: number): string {
  const group = groupOf(metric);
  return metric.endsWith(GROUP.completion)
    ? `95 % of the flows of ${group} complete within ${duration(bound)}`
    : `99 % of the packets of ${group} wait at most ${duration(bound)}`;
}

/** Whether a metric that meets a largest allowed value may be above it: it is only a lower bound, and what
 * it is at most is unknown, or does not meet the value. */
function mayBeLarger(point: Point, { metric, atLeast, bound }: Target): boolean {
  const most = [...point.values()].map((run) => run[`${metric}${AT_MOST}`]);
  if (atLeast || most.every((value) => value === undefined)) return false;
  const interval = intervalOf(point, `${metric}${AT_MOST}`);
  if (!interval || most.includes(null)) return true;
  const arm = Number.isFinite(interval.halfWidth) ? interval.halfWidth : 0;
  return interval.mean + arm > bound;
}

/** Whether the whole 95 % interval meets the bound, misses it, or only a part of it does. */
export function verdictOf(point: Point, target: Target): Verdict {
  const interval = intervalOf(point, target.metric);
  if (!interval) return "undecided";
  const sign = target.atLeast ? 1 : -1;
  const margin = sign * (interval.mean - target.bound);
  if (margin - interval.halfWidth >= 0) return mayBeLarger(point, target) ? "undecided" : "meets";
  return margin + interval.halfWidth < 0 ? "misses" : "undecided";
}

/** The verdict on a buffer by the runs of all buffers near the crossing. */
function verdictBy({ low, high }: Crossing, limit: number): Verdict {
  if (limit >= high) return "meets";
  return limit <= low ? "misses" : "undecided";
}

/** The verdict on a buffer for all targets together.
 *
 * @param crossings - By target, where a search found its crossing, if it did.
 */
export function verdictOfAll(
  limit: number,
  point: Point,
  targets: Target[],
  crossings: (Crossing | null)[] = [],
): Verdict {
  const verdicts = targets.map((target, at) => {
    const crossing = crossings[at];
    if (!crossing) return verdictOf(point, target);
    const verdict = verdictBy(crossing, limit);
    return verdict === "meets" && mayBeLarger(point, target) ? "undecided" : verdict;
  });
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
  /** The smallest sufficient buffer by a search; null without one. */
  interval: Crossing | null;
}

/** The answer of a search; without one, the smallest of the buffers that were tried which meets every
 * target. */
export function answerOf(
  points: Map<number, Point>,
  targets: Target[],
  search: SearchStep | null,
): SizeAnswer {
  if (!search?.interval) return smallest(points, targets);
  const { answer, interval } = search;
  const tooSmall = Math.floor(interval.low);
  return { limit: answer, verdict: "meets", tooSmall, interval: inWholeSteps(interval, answer) };
}

/** The interval of the smallest whole value that suffices, as `tailroom size` prints it: a mean that crosses
 * its bound between two steps makes the upper one the smallest. */
function inWholeSteps({ estimate, low, high }: Crossing, answer: number | null): Crossing {
  return {
    estimate: Math.ceil(estimate),
    low: Math.ceil(low),
    high: Math.max(Math.ceil(high), answer ?? 0),
  };
}

/** The smallest of the buffers that were tried which meets every target, by its own runs. */
export function smallest(points: Map<number, Point>, targets: Target[]): SizeAnswer {
  const limits = [...points.keys()]
    .filter((limit) => points.get(limit)?.size)
    .sort((a, b) => a - b);
  const verdicts = new Map(
    limits.map((limit) => [limit, verdictOfAll(limit, pointAt(points, limit), targets)]),
  );
  const sure = limits.find((limit) => verdicts.get(limit) === "meets");
  const likely = limits.find((limit) => meansMeet(pointAt(points, limit), targets));
  const limit = sure ?? likely ?? null;
  const below = limits.filter((other) => limit === null || other < limit);
  const tooSmall = below.findLast((other) => verdicts.get(other) === "misses") ?? 0;
  const isClosed = limits.length > 0 && limits.every((other) => verdicts.get(other) === "misses");
  const verdict = sure !== undefined ? "meets" : isClosed ? "misses" : "undecided";
  return { limit, verdict, tooSmall, interval: null };
}

/** Why buffers are judged one by one. */
export function refusalText(search: SearchStep | null): string {
  return search?.refused ? ` The buffers are judged one by one: ${search.refused}.` : "";
}

/** The answer as a sentence. */
export function answerText(
  answer: SizeAnswer,
  targets: Target[],
  amounts: (limit: number) => string,
  valueOf: (limit: number) => string,
): string {
  const asked = targets.map((target) => target.text).join("; ");
  const { limit, verdict, tooSmall, interval } = answer;
  if (limit === null) {
    return verdict === "misses"
      ? `No buffer that was tried meets them all (${asked}).`
      : `No buffer that was tried meets them all so far (${asked}); the runs do not decide yet.`;
  }
  if (interval) {
    const [low, high] = [valueOf(interval.low), valueOf(interval.high)];
    return (
      `Smallest buffer that meets the targets (${asked}): ${amounts(limit)}. ` +
      `Estimate ${valueOf(interval.estimate)}, 95 % interval ${low} to ${high}.`
    );
  }
  const small = tooSmall > 0 ? ` Too small: ${valueOf(tooSmall)}.` : "";
  const sure =
    verdict === "meets"
      ? "meets them with 95 % confidence"
      : "meets them in the mean; the runs do not decide yet";
  return `Smallest buffer tried that meets the targets (${asked}): ${amounts(limit)}. It ${sure}.${small}`;
}
