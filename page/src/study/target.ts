/** A bound on a metric. */

import type { Metric } from "./point";

export interface Target {
  metric: Metric;
  atLeast: boolean;
  bound: number;
  /** Largest possible value of the metric; null without one. */
  highest: number | null;
  text: string;
}
