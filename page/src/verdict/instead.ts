/** Another queue discipline with which those who are watched wait less, and what it costs the others. */

import type { DisciplineCurve } from "../frontier/disciplines";
import { withWords } from "../scenario/discipline_words";
import { duration, percent } from "../scenario/quantities";
import type { Axis } from "../study/axis";
import { estimateAt, type Estimate } from "../study/curve";
import { pairedDifference } from "../study/paired";
import { GROUP, intervalOf, metricOf, pointAt, type Point } from "../study/point";
import type { Interval } from "../study/statistics";
import { isSure, timeText, utilizationText } from "./sentence";

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
 * there are too few. */
export function priceOf(own: Point, other: Point, groups: string[]): Price | null {
  const used = pairedDifference(own, other, "utilization");
  if (!used || used.count < FEWEST_RUNS) return null;
  const price: Price = { runs: used.count, gains: [], losses: [] };
  const tell = (change: Interval | null, isGain: boolean, text: string): void => {
    if (change && isSure(change)) (isGain ? price.gains : price.losses).push(text);
  };
  const text = utilizationText(used);
  if (text !== "the same utilization") tell(used, used.mean > 0, text);
  for (const group of groups) {
    const parts = changesOf(own, other, group);
    for (const isGain of [true, false]) {
      const some = parts.filter((part) => part.isGain === isGain).map((part) => part.text);
      if (some.length > 0) {
        (isGain ? price.gains : price.losses).push(`${group}: ${some.join(", ")}`);
      }
    }
  }
  return price;
}

interface Change {
  isGain: boolean;
  text: string;
}

/** What surely changes for a group. */
function changesOf(own: Point, other: Point, group: string): Change[] {
  const sure = (metric: string, least: number): Interval | null => {
    const change = pairedDifference(own, other, `${group}.${metric}`);
    return change && isSure(change) && Math.abs(change.mean) >= least ? change : null;
  };
  const relative = (metric: string): number =>
    LEAST.relative * Math.abs(intervalOf(own, `${group}.${metric}`)?.mean ?? 0);
  const changes: Change[] = [];
  const wait = sure(GROUP.delayP99, relative(GROUP.delayP99));
  if (wait) {
    const text = `${timeText(wait)} ${wait.mean < 0 ? "less" : "more"} wait`;
    changes.push({ isGain: wait.mean < 0, text });
  }
  const completion = sure(GROUP.completion, relative(GROUP.completion));
  if (completion) {
    const when = completion.mean < 0 ? "sooner" : "later";
    changes.push({
      isGain: completion.mean < 0,
      text: `95 % complete ${timeText(completion)} ${when}`,
    });
  }
  const lost = sure(GROUP.loss, LEAST.loss);
  if (lost) {
    const by = percent(Math.abs(lost.mean), 1);
    changes.push({ isGain: lost.mean < 0, text: `${by} ${lost.mean < 0 ? "fewer" : "more"} lost` });
  }
  const goodput = sure(GROUP.goodput, relative(GROUP.goodput));
  const before = intervalOf(own, `${group}.${GROUP.goodput}`)?.mean ?? 0;
  if (goodput && before > 0) {
    const by = percent(Math.abs(goodput.mean) / before, 1);
    changes.push({
      isGain: goodput.mean > 0,
      text: `${by} ${goodput.mean > 0 ? "more" : "less"} goodput`,
    });
  }
  return changes;
}

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
    `With ${withWords(kind)} and its usual target of ${duration(value / US)}: gained: ${list(gains)}. ` +
    `Lost: ${list(losses)}. (Differences over ${runs} runs with common seeds, ± half of the 95 % interval.)`
  );
}
