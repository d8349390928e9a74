/** What a link can have: what a shorter wait costs, a curve per discipline. */

import type { Bar, Line, Picture, Shade } from "../pictures/picture";
import type { Targets } from "../state";
import { toldApart } from "../study/apart";
import { axisName, type Axis } from "../study/axis";
import { GROUP, intervalOf, metricOf, type Metric, type Point, pointAt } from "../study/point";
import type { Interval } from "../study/statistics";
import { endsOf, type Cost } from "./cost";

const MS = 1000;
/** Colours and dashes of the curves; the third is that of answers. */
const STYLES = [1, 2, 4, 5, 6];
const ANSWER_STYLE = 3;

/** A setting on the picture, at its means. */
export interface Spot {
  x: number;
  y: number;
}

/** A point of a curve, which can be chosen. */
export interface Choice extends Spot {
  curve: number;
  axis: Axis;
  value: number;
  /** The runs behind it: the wait in seconds, and the metric that is the cost. */
  runs: number;
  wait: Interval;
  paid: Interval;
}

export interface FrontierCurve {
  kind: string;
  axis: Axis;
  /** A value that is shown in any case. */
  usual: number | null;
  points: Map<number, Point>;
  /** Whether no more runs follow. */
  done: boolean;
}

export interface FrontierAsked {
  curves: FrontierCurve[];
  /** "" for all packets. */
  who: string;
  cost: Cost;
  now: Spot | null;
  answer: Spot | null;
  targets: Targets;
}

const inMs = (seconds: number): number => MS * seconds;

/** A curve in the legend: the discipline, and what its points vary. */
export function curveName({ kind, axis }: Pick<FrontierCurve, "kind" | "axis">): string {
  return `${kind}: ${axisName(axis)}`;
}

function choiceOf(
  point: Point,
  wait: Metric | null,
  cost: Cost,
): Omit<Choice, "curve" | "axis" | "value"> | null {
  const [paid, delay] = [intervalOf(point, cost.metric), intervalOf(point, wait)];
  if (!paid || !delay || delay.mean <= 0) return null;
  return { x: inMs(delay.mean), y: cost.of(paid.mean), runs: point.size, wait: delay, paid };
}

/** Where the intervals of a point end; null for a single run. */
function barOf({ wait, paid }: Choice, cost: Cost): Bar | null {
  const isKnown = Number.isFinite(wait.halfWidth) && Number.isFinite(paid.halfWidth);
  return isKnown ? { x: endsOf(inMs, wait), y: endsOf(cost.of, paid) } : null;
}

/** The points of the curves that their runs tell apart, along each curve. */
export function choicesOf({ curves, who, cost }: FrontierAsked): Choice[] {
  const wait = metricOf(who, GROUP.delayP99);
  return curves.flatMap(({ axis, points, usual }, curve) =>
    toldApart(points, [cost.metric, wait], usual).flatMap((value) => {
      const choice = choiceOf(pointAt(points, value), wait, cost);
      return choice ? [{ ...choice, curve, axis, value }] : [];
    }),
  );
}

/** The spot of a measured or estimated setting; null while it is not known. */
export function spotAt(cost: Cost, paid: number | null, waitS: number | null): Spot | null {
  if (paid === null || waitS === null || waitS <= 0) return null;
  return { x: inMs(waitS), y: cost.of(paid) };
}

export function frontierPicture(asked: FrontierAsked, choices = choicesOf(asked)): Picture {
  const { curves, who, cost, now, answer, targets } = asked;
  const singles: [string, Spot][] = [
    ...(answer ? [["the answer", answer] as [string, Spot]] : []),
    ...(now ? [["now", now] as [string, Spot]] : []),
  ];
  // Each spot has a position of its own, also where two lie at the same wait.
  const spots: Spot[] = [...choices, ...singles.map(([, spot]) => spot)].sort((a, b) => a.x - b.x);
  const place = new Map(spots.map((spot, at) => [spot, at]));
  const valuesOf = <Value>(own: [Spot, Value | null][]): (Value | null)[] => {
    const values = new Map(own.map(([spot, value]) => [place.get(spot), value]));
    return spots.map((_, at) => values.get(at) ?? null);
  };
  const lines = curves.map((curve, number): Line => {
    const own = choices.filter((one) => one.curve === number);
    return {
      label: curveName(curve),
      y: valuesOf(own.map((one) => [one, one.y])),
      route: own.map((one) => place.get(one) ?? 0),
      bars: valuesOf(own.map((one) => [one, barOf(one, cost)])),
      style: STYLES[number % STYLES.length] ?? 0,
      markers: true,
    };
  });
  for (const [label, spot] of singles) {
    const style = label === "now" ? 0 : ANSWER_STYLE;
    lines.push({ label, y: valuesOf([[spot, spot.y]]), style, markers: true, size: 14 });
  }
  return {
    name: "frontier",
    title: `What you can have: ${cost.title} against the wait`,
    x: { label: `delay${who && ` of ${who}`}, 99 % (ms)`, log: true },
    y: cost.axis,
    xs: spots.map(({ x }) => x),
    lines,
    marks: [],
    shades: cornerOf(targets, who, cost),
  };
}

/** The target for the wait that the picture shows, in seconds. */
function boundOfWait({ delayS, groups }: Targets, who: string): number | null {
  return who === "" ? delayS : (groups[metricOf(who, GROUP.delayP99) ?? ""] ?? null);
}

/** Whether a target is of neither axis: loss, the wait of others than `who`, or another cost. */
export function hasUnseen(targets: Targets, who: string, cost: Cost): boolean {
  const { utilization, delayS, loss, groups } = targets;
  const all = [utilization, delayS, loss, ...Object.values(groups)];
  const given = all.filter((bound) => bound !== null).length;
  const seen = [boundOfWait(targets, who), cost.bound(targets)];
  return given > seen.filter((bound) => bound !== null).length;
}

/** The part of the picture that meets the targets. */
function cornerOf(targets: Targets, who: string, cost: Cost): Shade[] {
  const [paid, wait] = [cost.bound(targets), boundOfWait(targets, who)];
  if (paid === null && wait === null) return [];
  const to = paid === null ? 1e300 : cost.of(paid);
  const most = wait === null ? 1e300 : inMs(wait);
  return [{ axis: "y", from: -1e300, to, across: [-1e300, most], kind: "meets" }];
}
