/** What decides on the queue of a link apart from its limit: a marking threshold, a target delay, or the
 * alpha of the pool in which the queue is. */

import type { Bottleneck } from "../rules/bottleneck";
import { queueKey, type Place } from "../scenario/place";
import { secondsOf } from "../scenario/quantities";
import { valueAt, type Table } from "../scenario/text";
import { ALPHA_STEPS, type Axis } from "../study/axis";
import { COARSE, spread } from "../study/plan";

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

/** Mean propagation round trip of the link's flows, in seconds; 0 without. */
export function rttOf({ bdp_packets, capacity_pps }: Bottleneck): number {
  return bdp_packets / capacity_pps;
}

/** The axes on which the present queue has curves; none where the limit alone binds.
 *
 * @param scenario - The scenario with its defaults.
 */
export function bindingsOf(scenario: Table, link: Bottleneck, place: Place): Binding[] {
  const own = thresholdOf(scenario, link, place) ?? targetOf(scenario, link, place);
  const alpha = alphaOf(scenario, place);
  return [own, alpha].filter((one) => one !== null);
}

function thresholdOf(scenario: Table, link: Bottleneck, place: Place): Binding | null {
  const known = THRESHOLDS[link.discipline];
  const queue = valueAt(scenario, queueKey(place));
  if (link.discipline === "dual_pi2") {
    return ecnOf(scenario, link).has("l4s") ? timeOf(queue, "l4s_threshold", "800 us") : null;
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
function targetOf(scenario: Table, link: Bottleneck, place: Place): Binding | null {
  const usual: Record<string, string> = { codel: "5 ms", fq_codel: "5 ms" };
  const queue = valueAt(scenario, queueKey(place));
  if (typeof valueAt(queue, ["target"]) !== "string") return null;
  return timeOf(queue, "target", usual[link.discipline] ?? "15 ms");
}

/** Values around the usual one; a threshold of L4S packets and its ramp lie below the target. */
function timeOf(queue: unknown, key: string, usual: string): Binding {
  const middle = US * secondsOf(usual);
  const [ramp, target] = ["ramp", "target"].map((name) => valueAt(queue, [name]));
  const isBelow = key !== "target" && typeof ramp === "string" && typeof target === "string";
  const room = isBelow ? US * (secondsOf(target) - secondsOf(ramp)) - 1 : Infinity;
  const axis: Axis = { kind: null, key, unit: "us" };
  return { axis, values: around(middle).filter((value) => value <= room) };
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
