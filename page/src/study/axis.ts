/** What a study varies: the key that decides how many packets wait, of a queue or of its pool. */

import type { Unit } from "../engine/engine";
import type { Bottleneck } from "../rules/bottleneck";
import { limitText, limitToml } from "../rules/buffer_units";
import { duration } from "../scenario/quantities";
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
  /** What its whole values count: steps of a limit, microseconds, or 128ths of an alpha. */
  unit: Unit | "us" | "alpha";
  /** The table with the key; left out, that of the queue. */
  table?: string[];
  /** Bytes of a step of a limit in bdp at the scenario's own seed: a port has one buffer, whatever RTTs other
   * seeds draw. */
  bytes?: number;
  /** Other keys of a queue that takes the place of the scenario's. */
  rest?: Table;
}

/** The limit of the scenario's own queue. */
export function limitAxis(unit: Unit): Axis {
  return { kind: null, key: "limit", unit };
}

/** The limit of a link's own queue, one buffer for all seeds. */
export function ownLimitAxis({ buffer: { unit }, step_bytes }: Bottleneck): Axis {
  return unit === "bdp" ? { ...limitAxis(unit), bytes: step_bytes.bdp } : limitAxis(unit);
}

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
  if (unit === "us") return duration(value / US);
  if (unit !== "alpha") return limitText(unit, value);
  return value < ALPHA_STEPS ? `1/${ALPHA_STEPS / value}` : String(value / ALPHA_STEPS);
}

function valueToml({ unit, bytes }: Axis, value: number): string {
  if (bytes) return limitToml({ unit: "B", steps: Math.floor(value * bytes * (1 + 1e-12)) });
  if (unit === "alpha") return String(value / ALPHA_STEPS);
  return unit === "us" ? `"${value} us"` : limitToml({ unit, steps: value });
}

/** Returns the scenario with a value of the axis: whole steps, microseconds, or 128ths.
 *
 * @param queue - Path of the queue.
 */
export function withValue(text: string, queue: string[], axis: Axis, value: number): string {
  const { kind, key, table, rest } = axis;
  const toml = valueToml(axis, value);
  if (kind === null) return setKeyOfLink(text, [...(table ?? queue), key], toml);
  const another = setKeyOfLink(text, queue, inlineToml({ kind, ...rest }));
  return setKeyOfLink(another, [...queue, key], toml);
}
