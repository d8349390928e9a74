/** A buffer as people write it, in the unit of its scenario and in others. */

import type { Bottleneck as Link, Unit } from "../engine/engine";
import { here } from "../engine/here";
import { placeOf, queueKey } from "../scenario/place";
import { bytes, duration, packets, plain } from "../scenario/quantities";
import { valueAt, type Table } from "../scenario/text";
import { converted, type Bottleneck, type Buffer } from "./bottleneck";

/** Steps of time, and of bandwidth-delay products. */
const NS = 1e9;
const BDP = 1e6;
/** Digits of a limit that is not counted in packets. */
const DIGITS = 3;
/** Units other than packets, in the order in which they are told. */
const OTHERS = ["B", "ns", "bdp"] as const;

/** The limits that are in question, in steps of their unit. */
export interface BufferRange {
  smallest: number;
  largest: number;
  /** Significant digits of a value between them; whole steps, if left out. */
  digits?: number;
}

/** The range of limits in a unit. */
export function rangeIn(unit: string, smallest: number, largest: number): BufferRange {
  const range = { smallest, largest };
  return unit === "packets" ? range : { ...range, digits: DIGITS };
}

/** The value of a range nearest to a number; its ends have all their digits. */
export function within({ smallest, largest, digits }: BufferRange, value: number): number {
  if (Math.round(value) >= largest) return largest;
  const rounded = Math.round(digits ? Number(value.toPrecision(digits)) : value);
  return Math.min(largest, Math.max(smallest, rounded));
}

/** The limit of a link's queue in the unit in which the scenario, with its defaults, writes it. */
export function bufferOf(link: Link, scenario: Table): Buffer {
  const text = valueAt(scenario, queueKey(placeOf(scenario, link.name), "limit"));
  const read = typeof text === "string" ? readLimit(text) : null;
  if (read) return read;
  // The engine counts bytes of what is no whole number of steps.
  const limit = link.amounts_packets["limit"] ?? Number.NaN;
  return { unit: "B", steps: Math.round(converted(link, limit, "packets", "B")) };
}

/** Reads a limit with its unit; null if it is none. */
export function readLimit(text: string): Buffer | null {
  return JSON.parse(here().read_limit(text)) as Buffer | null;
}

/** A limit as the scenario writes it. */
export function limitToml({ unit, steps }: Buffer): string {
  return JSON.stringify(here().limit_text(unit, steps));
}

/** A limit as people write it. */
export function limitText(unit: Unit, steps: number): string {
  if (!Number.isFinite(steps)) return "no limit";
  if (unit === "packets") return packets(steps);
  if (unit === "B") return bytes(steps);
  return unit === "ns" ? duration(steps / NS) : `${plain(steps / BDP)} BDP`;
}

/** A limit in bandwidth-delay products of the permanent flows; a dash if the link has none. */
export function bdpText(link: Bottleneck, steps: number): string {
  if (link.bdp_packets === 0) return "–";
  return plain(converted(link, steps, link.buffer.unit, "bdp") / BDP);
}

/** A limit in its own unit, then in the others. Where packets differ in size, the size is named by which
 * packets become bytes, or bytes packets. */
export function limitTexts(link: Bottleneck, steps: number): string[] {
  const { unit } = link.buffer;
  if (!Number.isFinite(steps)) return [limitText(unit, steps)];
  const others = OTHERS.filter(
    (one) => one !== unit && (one !== "bdp" || link.bdp_packets > 0),
  ).map((one) => limitText(one, converted(link, steps, unit, one)));
  const each = link.packets_differ ? `${plain(link.packet_bytes, 4)} B` : "";
  if (unit === "packets") {
    const [first = "", ...rest] = others;
    return [limitText(unit, steps), (each && `if each has ${each}: `) + first, ...rest];
  }
  // A packet waits whole or not at all; a limit of whole packets may be a rounding error below them.
  const count = Math.floor(converted(link, steps, unit, "packets") * (1 + 1e-12));
  return [limitText(unit, steps), ...others, packets(count) + (each && ` of ${each}`)];
}
