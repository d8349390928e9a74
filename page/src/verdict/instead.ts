/** Another queue discipline with which those who are watched wait less, and what it costs the others. */

import type { DisciplineCurve, Disciplines } from "../frontier/disciplines";
import type { Bottleneck } from "../rules/bottleneck";
import { withWords } from "../scenario/discipline_words";
import { duration, percent } from "../scenario/quantities";
import type { Axis } from "../study/axis";
import { estimateAt, type Estimate } from "../study/curve";
import { pairedDifference } from "../study/paired_runs";
import { GROUP, intervalOf, metricOf, pointAt, type Point } from "../study/point";
import type { Interval } from "../study/statistics";
import { isSure, SAME_UTILIZATION, timeText, utilizationText } from "./sentence";

const TOO_LONG = "Other queue disciplines are not compared, since a run takes long.";
const US = 1e6;
/** Runs without which nothing is said of a discipline: those that each of its points gets. */
const FEWEST_RUNS = 3;
/** Smaller changes are of no interest: of times and goodputs, relative; of losses, a fraction. */
const LEAST = { relative: 0.01, loss: 0.001 };

export interface Instead {
  kind: string;
  axis: Axis;
  /** The usual value of the axis. */
  value: number;
}

/** What is known of other disciplines at their usual targets. */
export interface Others {
  /** Those that were tried; empty where none fits the link. */
  kinds: string[];
  /** Those that are made for shorter round trips. */
  unfit: { kinds: string[]; madeForS: number; rttS: number } | null;
  /** The one with the shortest wait, if it is surely shorter than with the present queue. */
  best: Instead | null;
}

/** What another discipline changes, for better and for worse. */
export interface Price {
  runs: number;
  gains: string[];
  losses: string[];
}

/** What is known of other disciplines at a link; null while it is not, or why they are not compared. */
export function othersAt(
  { curves, isLong }: Pick<Disciplines, "curves" | "isLong">,
  link: Bottleneck,
  points: Map<number, Point>,
  who: string,
): Others | string | null {
  if (isLong) return TOO_LONG;
  return othersOf(curves, { kind: link.discipline, points, limit: link.buffer.steps }, who);
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
  const fitting = others.filter(({ fit }) => fit.rttS <= fit.madeForS);
  const [short] = others.filter((one) => !fitting.includes(one));
  const unfit = short
    ? {
        kinds: others.filter((one) => !fitting.includes(one)).map(({ kind }) => kind),
        ...short.fit,
      }
    : null;
  const kinds = fitting.map(({ kind }) => kind);
  const isKnown = ({ usual, points, done }: DisciplineCurve): boolean =>
    done || pointAt(points, usual ?? 0).size >= FEWEST_RUNS;
  if (fitting.length === 0) return { kinds, unfit, best: null };
  if (!now || now.isBetween || now.count < FEWEST_RUNS || !fitting.every(isKnown)) return null;
  const shorter = fitting
    .flatMap((curve) => atUsual(curve, who, now))
    .sort((a, b) => a.waitS - b.waitS);
  return { kinds, unfit, best: shorter[0] ?? null };
}

/** A discipline at its usual value, if its wait is surely shorter than `now`. */
function atUsual(
  { kind, axis, usual, points }: DisciplineCurve,
  who: string,
  now: Estimate,
): (Instead & { waitS: number })[] {
  if (usual === null) return [];
  const wait = intervalOf(pointAt(points, usual), metricOf(who, GROUP.delayP99));
  if (!wait || wait.count < FEWEST_RUNS) return [];
  const isShorter = now.mean - wait.mean > Math.hypot(now.halfWidth, wait.halfWidth);
  return isShorter ? [{ kind, axis, value: usual, waitS: wait.mean }] : [];
}

/** What a discipline changes for the link and for each group, by runs with common seeds; null while
 * there are too few. A gain is sure; a loss that is not is told as "perhaps". */
export function priceOf(own: Point, other: Point, groups: string[]): Price | null {
  const used = pairedDifference(own, other, "utilization");
  if (!used || used.count < FEWEST_RUNS) return null;
  const price: Price = { runs: used.count, gains: [], losses: [] };
  const text = utilizationText(used);
  if (used.mean < 0 && text !== SAME_UTILIZATION) price.losses.push(text);
  else if (text !== SAME_UTILIZATION && isSure(used)) price.gains.push(text);
  for (const group of groups) {
    const changes = CHANGES.flatMap((change) => change(own, other, group));
    for (const isGain of [true, false]) {
      const some = changes.filter((one) => one.isGain === isGain).map((one) => one.text);
      const list = isGain ? price.gains : price.losses;
      if (some.length > 0) list.push(`${group}: ${some.join(", ")}`);
    }
  }
  return price;
}

interface Change {
  isGain: boolean;
  text: string;
}

/** A kind of change of a group; nothing if it is small, or a gain that is not sure.
 *
 * @param more - Whether more of the metric is better.
 * @param shown - The change in words, by its interval and the mean before it.
 */
function changeOf(
  metric: string,
  more: boolean,
  least: (before: number) => number,
  shown: (change: Interval, before: number) => string,
) {
  return (own: Point, other: Point, group: string): Change[] => {
    const change = pairedDifference(own, other, `${group}.${metric}`);
    const before = intervalOf(own, `${group}.${metric}`)?.mean ?? 0;
    if (!change || Math.abs(change.mean) < Math.max(least(before), Number.MIN_VALUE)) return [];
    const isGain = change.mean > 0 === more;
    if (!isSure(change) && isGain) return [];
    return [{ isGain, text: `${isSure(change) ? "" : "perhaps "}${shown(change, before)}` }];
  };
}

const relative = (before: number): number => LEAST.relative * before;
const CHANGES = [
  changeOf(GROUP.delayP99, false, relative, (change) => {
    return `${timeText(change)} ${change.mean < 0 ? "less" : "more"} wait`;
  }),
  changeOf(GROUP.completion, false, relative, (change) => {
    return `95 % complete ${timeText(change)} ${change.mean < 0 ? "sooner" : "later"}`;
  }),
  changeOf(
    GROUP.loss,
    false,
    () => LEAST.loss,
    ({ mean }) => `${percent(Math.abs(mean), 1)} ${mean < 0 ? "fewer" : "more"} packets lost`,
  ),
  changeOf(GROUP.goodput, true, relative, ({ mean }, before) => {
    return `${percent(Math.abs(mean) / before, 1)} ${mean < 0 ? "less" : "more"} goodput`;
  }),
];

/** What is said of other disciplines, without the one that is proposed. */
export function othersText({ kinds, unfit, best }: Others, who: string): string {
  const none =
    kinds.length > 0 && !best
      ? `None of the other disciplines at their usual targets (${kinds.join(", ")}) surely makes packets of ${who} wait less.`
      : "";
  if (!unfit) return none;
  const why =
    `Not proposed here: ${unfit.kinds.join(", ")}, whose usual parameters are made for round trips of up to ` +
    `${duration(unfit.madeForS)}; those of this link take ${duration(unfit.rttS)}.`;
  return [none, why].filter(Boolean).join(" ");
}

/** What the proposed discipline gives and takes. */
export function priceText({ kind, value }: Instead, { runs, gains, losses }: Price): string {
  const list = (parts: string[]): string => parts.join("; ") || "nothing that these runs show";
  return (
    `Gained with ${withWords(kind)} and its usual target of ${duration(value / US)}: ${list(gains)}. ` +
    `Lost: ${list(losses)}. (${runs} runs of each with common seeds.)`
  );
}
