/** What a study varies: the key that decides how many packets wait, of a queue or of its pool. */

import { duration, packets } from "../scenario/quantities";
import { setKeyOfLink } from "../scenario/place";
import { inlineToml, type Table } from "../scenario/text";

/** Steps of 1 in an alpha: `tailroom size` tries those from 1/128 on, and draws its seeds by the step. */
export const ALPHA_STEPS = 128;
const US = 1e6;

export interface Axis {
  /** Kind of the queue that takes the place of the scenario's; null for the scenario's own. */
  kind: string | null;
  /** The key of the queue, or of `table`. */
  key: string;
  /** What its whole values count; an alpha counts 128ths. */
  unit: "packets" | "us" | "alpha";
  /** The table with the key; left out, that of the queue. */
  table?: string[];
  /** Other keys of a queue that takes the place of the scenario's. */
  rest?: Table;
}

export const LIMIT: Axis = { kind: null, key: "limit", unit: "packets" };

/** What people call the keys. */
const NAMES: Record<string, string> = {
  limit: "buffer",
  target: "target delay",
  threshold: "marking threshold",
  k_min: "marking threshold Kmin",
  min_threshold: "lower threshold",
  l4s_threshold: "marking threshold of L4S packets",
  alpha: "alpha of the pool",
};

export function axisName({ key }: Axis): string {
  return NAMES[key] ?? key;
}

/** A value with its unit, as people write it: "22 packets", "5 ms", "1/4". */
export function valueText({ unit }: Axis, value: number): string {
  if (unit === "packets") return packets(value);
  if (unit === "us") return duration(value / US);
  return value < ALPHA_STEPS ? `1/${ALPHA_STEPS / value}` : String(value / ALPHA_STEPS);
}

/** Returns the scenario with a value of the axis: whole packets, microseconds, or 128ths.
 *
 * @param queue - Path of the queue.
 */
export function withValue(text: string, queue: string[], axis: Axis, value: number): string {
  const { kind, key, unit, table, rest } = axis;
  const quantity = unit === "alpha" ? value / ALPHA_STEPS : `${value} ${unit}`;
  if (kind === null) return setKeyOfLink(text, [...(table ?? queue), key], inlineToml(quantity));
  return setKeyOfLink(text, queue, inlineToml({ kind, ...rest, [key]: quantity }));
}
