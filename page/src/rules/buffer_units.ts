/** A buffer in packets, bytes, time and bandwidth-delay products: the only conversions of the page. */

import { bytes, duration, packets, plain } from "../scenario/quantities";
import type { Bottleneck } from "./bottleneck";

/** The buffers that are in question, in packets. */
export interface BufferRange {
  smallest: number;
  largest: number;
}

/** The whole packets that a limit holds: 166 for 250 kB, as a packet waits whole or not at all. */
export function wholePackets(limit: number): number {
  // A limit of whole packets in bytes may be one rounding error below them.
  return Math.max(1, Math.floor(limit * (1 + 1e-12)));
}

/** A limit in bandwidth-delay products of the permanent flows; a dash if the link has none. */
export function bdpText(link: Bottleneck, limit: number): string {
  const bdp = link.bdp_packets;
  return bdp > 0 ? plain(limit / bdp) : "–";
}

/** A limit in packets, bytes, time and bandwidth-delay products. */
export function limitTexts(link: Bottleneck, limit: number): string[] {
  return [
    Number.isFinite(limit) ? packets(wholePackets(limit)) : "no limit",
    bytes(limit * link.packet_bytes),
    duration(limit / link.capacity_pps),
    ...(link.bdp_packets > 0 ? [`${bdpText(link, limit)} BDP`] : []),
  ];
}

/** A limit as the scenario writes it. */
export function limitToml(limit: number): string {
  return `"${limit} ${limit === 1 ? "packet" : "packets"}"`;
}
