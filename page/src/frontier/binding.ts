/** What decides on the queue of a link apart from its limit: a marking threshold, a target delay, or the
 * alpha of the pool in which the queue is. */

import type { Bottleneck } from "../rules/bottleneck";
import { queueKey, type Place } from "../scenario/place";
import { secondsOf } from "../scenario/quantities";
import { valueAt, type Table } from "../scenario/text";
import { ALPHA_STEPS, type Axis } from "../study/axis";
import { COARSE, spread } from "../study/plan";
import type { Usual } from "./usual";

/** Targets and thresholds in time: from the default divided by this to the default times this. */
const SPAN = 8;
const US = 1e6;
/** Largest threshold of interest, in packets and in bandwidth-delay products. */
const MOST_PACKETS = 1000;
const MOST_BDP = 4;
/** Switches have powers of two; these are those that `tailroom size` judges: 1/128 to 64. */
const ALPHA_POWERS = Array.from({ length: 14 }, (_, place) => place - 7);

export interface Binding {
  axis: Axis;
  /** The values that are worth trying, in ascending order. */
  values: number[];
}

/** A discipline's threshold in packets, and the amounts below which it lies. */
interface Threshold {
  key: string;
  below: string[];
}

const THRESHOLDS: Record<string, Threshold> = {
  step_mark: { key: "threshold", below: ["limit"] },
  wred: { key: "k_min", below: ["k_max", "limit"] },
  red: { key: "min_threshold", below: ["max_threshold", "limit"] },
  adaptive_red: { key: "min_threshold", below: ["max_threshold", "limit"] },
};

/** ECN of the groups that cross a link. */
function ecnOf(scenario: Table, { classes, dynamic }: Bottleneck): Set<unknown> {
  const groups = [...classes, ...dynamic].map(({ group }) => group);
  return new Set(groups.map((group) => valueAt(scenario, ["flows", group, "ecn"])));
}

/** Whether a flow at the link takes a mark as a sign of congestion. */
export function respondsToMarks(scenario: Table, link: Bottleneck): boolean {
  return [...ecnOf(scenario, link)].some((mode) => mode !== "off" && mode !== undefined);
}

/** The axes on which the present queue has curves; none where the limit alone binds.
 *
 * @param scenario - The scenario with its defaults.
 */
export function bindingsOf(
  scenario: Table,
  link: Bottleneck,
  place: Place,
  usual: Usual,
): Binding[] {
  const own = thresholdOf(scenario, link, place, usual) ?? targetOf(scenario, link, place, usual);
  const alpha = alphaOf(scenario, place);
  return [own, alpha].filter((one) => one !== null);
}

function thresholdOf(
  scenario: Table,
  link: Bottleneck,
  place: Place,
  usual: Usual,
): Binding | null {
  const known = THRESHOLDS[link.discipline];
  const queue = valueAt(scenario, queueKey(place));
  if (link.discipline === "dual_pi2") {
    const us = usual("dual_pi2", "l4s_threshold");
    return us !== null && ecnOf(scenario, link).has("l4s")
      ? timeOf(queue, "l4s_threshold", us)
      : null;
  }
  // RED and its kin drop what they cannot mark; so does a step, unless it is told not to.
  const spares = valueAt(queue, ["drop_others"]) === false && !respondsToMarks(scenario, link);
  if (!known || spares) return null;
  const bounds = known.below.map((name) => link.amounts_packets[name] ?? Infinity);
  const most = Math.min(
    Math.ceil(Math.min(...bounds)) - 1,
    Math.max(MOST_PACKETS, MOST_BDP * link.bdp_packets),
  );
  const axis: Axis = { kind: null, key: known.key, unit: "packets" };
  return { axis, values: spread({ smallest: 1, largest: Math.max(1, Math.floor(most)) }, COARSE) };
}

/** The curve of a discipline with a target delay, whatever the target is now. */
function targetOf(scenario: Table, link: Bottleneck, place: Place, usual: Usual): Binding | null {
  const us = usual(link.discipline, "target");
  return us === null ? null : timeOf(valueAt(scenario, queueKey(place)), "target", us);
}

/** Values around the usual one; a threshold of L4S packets and its ramp lie below the target. */
function timeOf(queue: unknown, key: string, usual: number): Binding {
  const [ramp, target] = ["ramp", "target"].map((name) => valueAt(queue, [name]));
  const isBelow = key !== "target" && typeof ramp === "string" && typeof target === "string";
  const room = isBelow ? US * (secondsOf(target) - secondsOf(ramp)) - 1 : Infinity;
  const axis: Axis = { kind: null, key, unit: "us" };
  return { axis, values: around(usual).filter((value) => value <= room) };
}

/** Microseconds from an eighth of the usual value to eight times. */
export function around(us: number): number[] {
  return spread({ smallest: Math.round(us / SPAN), largest: Math.round(us * SPAN) }, COARSE);
}

/** The alpha of the link in its pool, where it has one, else that of the pool's policy. */
function alphaOf(scenario: Table, { table, pool }: Place): Binding | null {
  if (pool === null) return null;
  const policy = [...pool, "policy"];
  const where = [table, policy].find((path) => {
    const alpha = valueAt(scenario, [...path, "alpha"]);
    return typeof alpha === "number" || typeof alpha === "bigint";
  });
  if (!where) return null;
  const axis: Axis = { kind: null, key: "alpha", unit: "alpha", table: where };
  return { axis, values: ALPHA_POWERS.map((power) => ALPHA_STEPS * 2 ** power) };
}
