/** A measured path as a scenario: its rate, its round trip without load, and the buffer that explains it. */

import { limitToml } from "../rules/buffer_units";
import type { BufferEstimate, Measurement } from "./measurement";
import { percentile } from "./rtts";

/** Flows of a test whose name does not tell. */
const FLOWS = 4;
const MS = 1e3;

/** The number of flows in the name of a test: 8 of "flent tcp_8up". */
function flowsOf({ tool }: Measurement): number {
  return Number(/tcp_(\d+)(up|down)/.exec(tool)?.[1] ?? FLOWS);
}

/** The rate of the load with its headers, in bit/s; null if it is unknown. */
export function rateOfLoad(measured: Measurement): number | null {
  const { throughput_bps: rates, packet_bytes: packet, payload_bytes: payload } = measured;
  if (rates.length === 0) return null;
  return ((rates.reduce((sum, one) => sum + one, 0) / rates.length) * packet) / payload;
}

/** The round trip of the idle path: the given one, else the measured one; null if it is unknown. */
export function idleRtt(measured: Measurement, givenS: number | null): number | null {
  return givenS ?? percentile(measured.idle_rtts_s, 50);
}

/** The scenario; null if the measurement shows no buffer or no rate.
 *
 * @param idleRttS - Round trip of the idle path; null for that of the measurement.
 */
export function myLink(
  measured: Measurement,
  { buffer_bytes: bytes }: BufferEstimate,
  idleRttS: number | null,
): string | null {
  const packet = measured.packet_bytes;
  const rttS = idleRtt(measured, idleRttS) ?? percentile(measured.rtt_s, 0);
  const rateBps = rateOfLoad(measured);
  if (bytes === null || rttS === null || rateBps === null) return null;
  const kbps = Math.round(rateBps / 1e3);
  const limit = limitToml({ unit: "B", steps: Math.max(packet, Math.round(bytes)) });
  const rtt = Number((MS * rttS).toPrecision(3));
  return `# The path that ${measured.tool} measured: rate, round trip and buffer are those of the measurement;
# the flows and the call are assumed.
title = "My link, as measured"
duration = "40 s"
measure_from = "10 s"

[links.mine]
rate = "${kbps} kbit/s"
delay = "${rtt / 4} ms"
queue = { kind = "drop_tail", limit = ${limit} }

[flows.load]
count = ${flowsOf(measured)}
path = ["mine"]
congestion = "cubic"
host = "linux"
packet_size = "${packet} B"
rtt = "${rtt} ms"

[flows.call]
path = ["mine"]
packet_size = "200 B"
rtt = "${rtt} ms"
source = { kind = "cbr", rate = "64 kbit/s" }
`;
}
