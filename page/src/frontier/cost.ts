/** What a shorter wait costs: capacity, or where the load is what arrives, the time of the flows. */

import type { Bottleneck } from "../engine/engine";
import type { Axis as PictureAxis } from "../pictures/picture";
import { duration, percent } from "../scenario/quantities";
import type { Targets } from "../state";
import { GROUP, metricOf, type Metric } from "../study/point";
import type { Interval } from "../study/statistics";

/** A logarithmic axis has no place for a full link: less than this is drawn here. */
export const LEAST_LOST = 1e-4;
const MOST_LOST = 1;
const MS = 1000;

export interface Cost {
  metric: Metric;
  title: string;
  axis: PictureAxis;
  /** Where a value of the metric is drawn. */
  of: (value: number) => number;
  /** The cost as a number with its unit, of a value or of half of an interval. */
  shown: (cost: number) => string;
  /** The value of the metric as a cost, without the least that is drawn. */
  exactly: (value: number) => number;
  /** The target for the metric; null without one. */
  bound: (targets: Targets) => number | null;
}

const LOST: Cost = {
  metric: "utilization",
  title: "capacity lost",
  axis: { label: "capacity lost", log: true, min: LEAST_LOST, max: MOST_LOST, percent: true },
  of: (utilization) => Math.max(LEAST_LOST, 1 - utilization),
  shown: (fraction) => percent(fraction),
  exactly: (utilization) => 1 - utilization,
  bound: ({ utilization }) => utilization,
};

/** The ends of an interval, as they are drawn; the smaller one first. */
export function endsOf(
  of: (value: number) => number,
  { mean, halfWidth }: Interval,
): [number, number] {
  const [a, b] = [of(mean - halfWidth), of(mean + halfWidth)];
  return [Math.min(a, b), Math.max(a, b)];
}

/** The cost on a link, for the packets of `who`. Flows that arrive as a Poisson process, whatever became
 * of those before, leave the link as used with any queue: what they pay is time. */
export function costOf({ classes, dynamic, streams }: Bottleneck, who: string): Cost {
  const isOffered = dynamic.length > 0 && dynamic.every(({ poisson }) => poisson);
  if (!isOffered || classes.length > 0 || streams.length > 0) return LOST;
  const load = (one: Bottleneck["dynamic"][number]): number =>
    one.arrivals_per_s * one.size_bytes_mean;
  const [largest] = [...dynamic].sort((a, b) => load(b) - load(a));
  const group = dynamic.find((one) => one.group === who)?.group ?? largest?.group ?? "";
  const metric = metricOf(group, GROUP.completion);
  if (metric === null) return LOST;
  return {
    metric,
    title: "completion time",
    axis: { label: `95 % of ${group} complete within (ms)`, log: true },
    of: (seconds) => MS * Math.max(0, seconds),
    shown: duration,
    exactly: (seconds) => seconds,
    bound: ({ groups }) => groups[metric] ?? null,
  };
}
