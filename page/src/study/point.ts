/** One buffer of a study and its runs. */

import type { Summary } from "../engine/engine";
import { jainIndex, meanInterval, type Interval } from "./statistics";

/** What a run measures of the link that the study is about. */
export interface Measured {
  utilization: number | null;
  delayMeanS: number | null;
  delayP99S: number | null;
  loss: number | null;
  jain: number | null;
}

export type Metric = keyof Measured;

/** The runs of a buffer: seed number (0, 1, ...) to what was measured. */
export type Point = Map<number, Measured>;

export function pointAt(points: Map<number, Point>, limit: number): Point {
  return points.get(limit) ?? new Map<number, Measured>();
}

export function measure(summary: Summary, name: string): Measured {
  const link = summary.links[name];
  const controlled = summary.flows.filter((flow) => flow.congestion !== null);
  return {
    utilization: link?.utilization ?? null,
    delayMeanS: link?.queue_delay_s_mean ?? null,
    delayP99S: link?.queue_delay_s_p99 ?? null,
    loss: link?.loss_fraction ?? null,
    jain: controlled.length < 2 ? null : jainIndex(controlled.map((flow) => flow.goodput_bps)),
  };
}

/** The mean of a metric over the runs of a buffer; null if no run measured it. */
export function intervalOf(point: Point, metric: Metric): Interval | null {
  const values = [...point.values()].map((run) => run[metric]);
  return meanInterval(values.filter((value) => value !== null));
}
