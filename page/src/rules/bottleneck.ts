/** One link of a network and the traffic that crosses it: what rules read. */

import type { Bottleneck } from "../engine/engine";

export type { Bottleneck };

export function limitPackets(link: Bottleneck): number {
  return link.amounts_packets["limit"] ?? Number.NaN;
}

/** The same link with another queue limit, in waiting packets. */
export function withLimit(link: Bottleneck, limit: number): Bottleneck {
  return { ...link, amounts_packets: { ...link.amounts_packets, limit } };
}
