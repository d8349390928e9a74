/** One link of a network and the traffic that crosses it: what rules read, and its limit. */

import type { Bottleneck as Link, Unit } from "../engine/engine";

/** A limit in whole steps of the unit in which the scenario writes it. */
export interface Buffer {
  unit: Unit;
  /** NaN if the queue has no limit. */
  steps: number;
}

export type Bottleneck = Link & { buffer: Buffer };

/** A number of steps of one unit in steps of another, as the engine counts a link's packets. */
export function converted(
  { step_bytes: bytes }: Pick<Link, "step_bytes">,
  steps: number,
  from: Unit,
  to: Unit,
): number {
  return from === to ? steps : (steps * bytes[from]) / bytes[to];
}

/** The same link with a limit of so many steps of its unit. */
export function withLimit(link: Bottleneck, steps: number): Bottleneck {
  const { unit } = link.buffer;
  const limit = converted(link, steps, unit, "packets");
  return {
    ...link,
    buffer: { unit, steps },
    amounts_packets: { ...link.amounts_packets, limit },
  };
}

/** Mean propagation round trip of the link's flows, in seconds; 0 without. */
export function rttOf({ bdp_packets, capacity_pps }: Link): number {
  return bdp_packets / capacity_pps;
}
