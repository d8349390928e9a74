/** What a link can have: capacity that is lost against the wait, a curve per discipline. */

import type { Line, Picture, Shade } from "../pictures/picture";
import type { Targets } from "../state";
import type { Axis } from "../study/axis";
import { GROUP, intervalOf, metricOf, type Metric, type Point } from "../study/point";

/** A logarithmic axis has no place for a full link: less than this is drawn here. */
const LEAST_LOST = 1e-4;
const MOST_LOST = 1;
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
}

export interface FrontierCurve {
  name: string;
  axis: Axis;
  points: Map<number, Point>;
}

function spotOf(point: Point, wait: Metric | null): Spot | null {
  const [used, delay] = [intervalOf(point, "utilization"), intervalOf(point, wait)];
  if (!used || !delay || delay.mean <= 0) return null;
  return { x: MS * delay.mean, y: Math.max(LEAST_LOST, 1 - used.mean) };
}

/** All points of the curves, for `who` ("" for all packets). */
export function choicesOf(curves: FrontierCurve[], who: string): Choice[] {
  const wait = metricOf(who, GROUP.delayP99);
  return curves.flatMap(({ axis, points }, curve) =>
    [...points].flatMap(([value, point]) => {
      const spot = spotOf(point, wait);
      return spot ? [{ ...spot, curve, axis, value }] : [];
    }),
  );
}

/** The spot of a measured or estimated setting; null while it is not known. */
export function spotAt(utilization: number | null, waitS: number | null): Spot | null {
  if (utilization === null || waitS === null || waitS <= 0) return null;
  return { x: MS * waitS, y: Math.max(LEAST_LOST, 1 - utilization) };
}

export function frontierPicture(
  curves: FrontierCurve[],
  who: string,
  now: Spot | null,
  answer: Spot | null,
  targets: Targets,
): Picture {
  const choices = choicesOf(curves, who);
  const singles: [string, Spot][] = [
    ...(answer ? [["the answer", answer] as [string, Spot]] : []),
    ...(now ? [["now", now] as [string, Spot]] : []),
  ];
  const xs = [...new Set([...choices, ...singles.map(([, spot]) => spot)].map(({ x }) => x))].sort(
    (a, b) => a - b,
  );
  const lines: Line[] = curves.map(({ name }, curve) => {
    const own = new Map(
      choices.filter((one) => one.curve === curve).map(({ x, y }) => [x, y] as const),
    );
    return {
      label: name,
      y: xs.map((x) => own.get(x) ?? null),
      style: STYLES[curve] ?? 0,
      markers: true,
    };
  });
  for (const [label, spot] of singles) {
    const y = xs.map((x) => (x === spot.x ? spot.y : null));
    lines.push({ label, y, style: label === "now" ? 0 : ANSWER_STYLE, markers: true, size: 14 });
  }
  return {
    name: "frontier",
    title: "What you can have: capacity lost against the wait",
    x: { label: `delay${who && ` of ${who}`}, 99 % (ms)`, log: true },
    y: { label: "capacity lost", log: true, min: LEAST_LOST, max: MOST_LOST, percent: true },
    xs,
    lines,
    marks: [],
    shades: cornerOf(targets, who),
  };
}

/** Whether a target is of neither axis: loss, completion, or the wait of others than `who`. */
export function hasUnseen({ delayS, loss, groups }: Targets, who: string): boolean {
  const wait = metricOf(who, GROUP.delayP99);
  const others = Object.keys(groups).filter((metric) => metric !== wait);
  return loss !== null || others.length > 0 || (who !== "" && delayS !== null);
}

/** The part of the picture that meets the targets. */
function cornerOf(targets: Targets, who: string): Shade[] {
  const { utilization, delayS, groups } = targets;
  const wait = who === "" ? delayS : (groups[metricOf(who, GROUP.delayP99) ?? ""] ?? null);
  if (utilization === null && wait === null) return [];
  const to = utilization === null ? 1e300 : Math.max(LEAST_LOST, 1 - utilization);
  const most = wait === null ? 1e300 : MS * wait;
  return [{ axis: "y", from: -1e300, to, across: [-1e300, most], kind: "meets" }];
}
