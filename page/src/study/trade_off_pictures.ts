/** What each buffer costs, as pictures over the buffer. */

import { spansDecades } from "../pictures/scales";
import type { Unit } from "../engine/engine";
import type { Line, Mark, Picture, Shade } from "../pictures/picture";
import { targetsOf } from "./answer";
import { GROUP, intervalOf, metricOf, type Metric, type Point } from "./point";
import type { Targets } from "../state";

/** A curve: the points of a setting. */
export interface Curve {
  /** Empty for the only curve. */
  name: string;
  points: Map<number, Point>;
}

interface Panel {
  name: string;
  title: string;
  label: string;
  /** Metrics with their names, if there are several. */
  metrics: [Metric, string][];
  factor: number;
  percent: boolean;
  /** Largest possible value; null if there is none. */
  most: number | null;
}

/** The metrics that are there for `who`: the group, or "" for all packets. */
function present(...metrics: [Metric | null, string][]): [Metric, string][] {
  return metrics.filter((one): one is [Metric, string] => one[0] !== null);
}

function panelsFor(who: string): Panel[] {
  const of = who && ` of ${who}`;
  const share = { factor: 1, percent: true, most: 1 };
  const time = { factor: 1000, percent: false, most: null };
  return [
    {
      ...share,
      name: "utilization",
      title: "Utilization",
      label: "utilization",
      metrics: [["utilization", "utilization"]],
    },
    {
      ...time,
      name: "delay",
      title: `Queueing delay${of}`,
      label: "queueing delay (ms)",
      metrics: present(
        [metricOf(who, GROUP.delayMean), "mean"],
        [metricOf(who, GROUP.delayP99), "99th percentile"],
      ),
    },
    {
      ...share,
      name: "loss",
      title: `Loss${of}`,
      label: "packets lost",
      metrics: present([metricOf(who, GROUP.loss), "loss"]),
    },
    {
      ...time,
      name: "completion",
      title: `Completion time${of}`,
      label: "95 % complete within (ms)",
      metrics: present([metricOf(who, GROUP.completion), "95th percentile"]),
    },
    {
      ...share,
      percent: false,
      name: "fairness",
      title: "Fairness",
      label: "Jain's index",
      metrics: [["jain", "Jain's index"]],
    },
  ];
}

/** Names of the pictures, in their order. */
export const PANEL_NAMES = panelsFor("").map(({ name }) => name);

/** The axis of the buffer in each unit: its label, and the steps of a unit of the axis. */
const BUFFERS: Record<Unit, [label: string, steps: number]> = {
  packets: ["buffer (packets)", 1],
  B: ["buffer (kB)", 1e3],
  ns: ["buffer (ms)", 1e6],
  bdp: ["buffer (BDP)", 1e6],
};

/** A picture per panel, over the buffers of all curves, which are steps of a unit, as the marks are. */
export function tradeOffPictures(
  curves: Curve[],
  who: string,
  targets: Targets,
  marks: Mark[],
  unit: Unit,
): Picture[] {
  const limits = [...new Set(curves.flatMap(({ points }) => [...points.keys()]))];
  limits.sort((a, b) => a - b);
  const [label, steps] = BUFFERS[unit];
  const scaled = marks.map((mark) => ({ ...mark, at: mark.at / steps }));
  return panelsFor(who).map((panel) => ({
    ...pictureOf(panel, curves, limits, targets, scaled),
    x: { label, log: true },
    xs: limits.map((limit) => limit / steps),
  }));
}

function pictureOf(
  panel: Panel,
  curves: Curve[],
  xs: number[],
  targets: Targets,
  marks: Mark[],
): Omit<Picture, "x" | "xs"> {
  const lines = curves.flatMap((curve, number) =>
    panel.metrics.map(([metric, name], place) => {
      const label = [curve.name, panel.metrics.length > 1 || !curve.name ? name : ""];
      const dashes = number * panel.metrics.length + place;
      // A setting has its colour in all pictures; without another, each metric has one.
      const style = curves.length > 1 ? number : place + 1;
      return lineOf(panel, curve, metric, xs, label.filter(Boolean).join(": "), { style, dashes });
    }),
  );
  const values = lines.flatMap((line) => line.y).filter((value) => value !== null);
  const log = panel.name !== "utilization" && panel.name !== "fairness" && spansDecades(values);
  return {
    name: `trade-off-${panel.name}`,
    title: panel.title + (log && values.includes(0) ? " (zero is not drawn)" : ""),
    y: {
      label: panel.label,
      log,
      percent: panel.percent,
      ...(!log && { min: 0 }),
      ...(!log && panel.most === 1 && panel.name !== "loss" && { max: 1.02 }),
    },
    lines,
    marks,
    shades: shadesOf(panel, targets),
  };
}

function lineOf(
  panel: Panel,
  curve: Curve,
  metric: Metric,
  xs: number[],
  label: string,
  look: Pick<Line, "style" | "dashes">,
): Line {
  const intervals = xs.map((limit) => {
    const point = curve.points.get(limit);
    return point ? intervalOf(point, metric) : null;
  });
  // The end of an interval may lie where no value can.
  const end = (sign: number): (number | null)[] =>
    intervals.map((interval) => {
      if (!interval || !Number.isFinite(interval.halfWidth)) return null;
      const at = interval.mean + sign * interval.halfWidth;
      return panel.factor * Math.min(panel.most ?? Infinity, Math.max(0, at));
    });
  return {
    label,
    ...look,
    markers: true,
    y: intervals.map((interval) => (interval ? panel.factor * interval.mean : null)),
    low: end(-1),
    high: end(1),
  };
}

/** The part of a picture in which the target is missed. */
function shadesOf(panel: Panel, targets: Targets): Shade[] {
  return targetsOf(targets)
    .filter((target) => panel.metrics.some(([metric]) => metric === target.metric))
    .map((target) => {
      const bound = panel.factor * target.bound;
      const [from, to] = target.atLeast ? [-1e300, bound] : [bound, 1e300];
      return { axis: "y", from, to, kind: "misses" };
    });
}
