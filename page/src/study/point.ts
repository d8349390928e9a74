/** One buffer of a study and its runs. */

import type { Summary } from "../engine/engine";
import { jainIndex, meanInterval, type Interval } from "./statistics";

/** What a run measures: of the link that the study is about by a short name, and of groups by the name
 * that `tailroom size` gives the metric. */
export type Measured = Record<string, number | null>;

export type Metric = string;

/** What is measured of a group, by the names of the engine. */
export const GROUP = {
  delayMean: "queue_delay_s_mean",
  delayP99: "queue_delay_s_p99",
  loss: "loss_fraction",
  completion: "all_sizes.completion_time_s_p95",
  goodput: "goodput_bps",
} as const;

type GroupMetric = (typeof GROUP)[keyof typeof GROUP];

/** Ends the name of what a metric is at most where it may be only a lower bound; null if that is unknown. */
export const AT_MOST = "_at_most";

/** What all packets of the link have in the place of a group's metric. */
const OF_ALL: Record<GroupMetric, Metric | null> = {
  [GROUP.delayMean]: "delayMeanS",
  [GROUP.delayP99]: "delayP99S",
  [GROUP.loss]: "loss",
  [GROUP.completion]: null,
  [GROUP.goodput]: null,
};

/** The metric of a group; of all packets for "", null where they have none. */
export function metricOf(who: string, metric: GroupMetric): Metric | null {
  return who === "" ? OF_ALL[metric] : `${who}.${metric}`;
}

/** Whether a metric is one that a target can bound for a group. */
export function isGroupTarget(metric: Metric): boolean {
  return [GROUP.delayP99, GROUP.completion].some((end) => metric.endsWith(`.${end}`));
}

/** The group of a group's metric. */
export function groupOf(metric: Metric): string {
  return metric.split(".")[0] ?? "";
}

/** The runs of a buffer: seed number (0, 1, ...) to what was measured. */
export type Point = Map<number, Measured>;

export function pointAt<Key>(points: Map<Key, Point>, at: Key): Point {
  return points.get(at) ?? new Map<number, Measured>();
}

export function measure(summary: Summary, name: string): Measured {
  const link = summary.links[name];
  const controlled = summary.flows.filter((flow) => flow.congestion !== null);
  const groups = Object.entries(summary.groups).flatMap(([group, one]) => [
    [`${group}.${GROUP.delayMean}`, one.queue_delay_s_mean],
    [`${group}.${GROUP.delayP99}`, one.queue_delay_s_p99],
    [`${group}.${GROUP.loss}`, one.loss_fraction],
    [`${group}.${GROUP.completion}`, one.all_sizes?.completion_time_s_p95 ?? null],
    [
      `${group}.${GROUP.completion}${AT_MOST}`,
      one.all_sizes?.completion_time_s_p95_at_most ?? null,
    ],
    [`${group}.${GROUP.goodput}`, one.goodput_bps],
  ]);
  return {
    utilization: link?.utilization ?? null,
    delayMeanS: link?.queue_delay_s_mean ?? null,
    delayP99S: link?.queue_delay_s_p99 ?? null,
    loss: link?.loss_fraction ?? null,
    jain: controlled.length < 2 ? null : jainIndex(controlled.map((flow) => flow.goodput_bps)),
    ...(Object.fromEntries(groups) as Measured),
  };
}

/** The mean of a metric over the runs of a buffer; null if no run measured it. */
export function intervalOf(point: Point, metric: Metric | null): Interval | null {
  if (metric === null) return null;
  const values = [...point.values()].map((run) => run[metric] ?? null);
  return meanInterval(values.filter((value) => value !== null));
}

/** Whether some values of a metric are only lower bounds, since flows had not ended when their run did. */
export function hasLowerBounds(point: Point, metric: Metric): boolean {
  return [...point.values()].some((run) => {
    const most = run[`${metric}${AT_MOST}`];
    return most !== undefined && most !== run[metric];
  });
}
