/** A buffer in the words of other tools: Linux tc, ns-3, Mahimahi. As `tailroom size` prints it. */

import { capacityPps, meanRttS, type Bottleneck } from "../rules/bottleneck";

/** Timer interrupts per second of common Linux kernels; the burst of tbf is at least rate / HZ. */
const LINUX_HZ = 250;

/** The configuration of a DropTail buffer by tool; `DEV` stands for the network interface. */
export function equivalents(link: Bottleneck, limitPackets: number): Record<string, string> {
  const limit = Math.max(1, Math.round(limitPackets));
  const rate = `${link.rateBps.toFixed(0)}bit`;
  const packetBytes = Math.ceil(link.packetBytes);
  const limitBytes = limit * packetBytes;
  const delayS = meanRttS(link) / 2;
  const delayed = Math.ceil(capacityPps(link) * delayS);
  const burst = Math.max(Math.ceil(link.rateBps / 8 / LINUX_HZ), packetBytes);
  const add = "tc qdisc replace dev DEV root";
  return {
    "tc pfifo (packets)": `${add} pfifo limit ${limit}`,
    "tc bfifo (bytes)": `${add} bfifo limit ${limitBytes}`,
    "tc tbf (rate and buffer)": `${add} tbf rate ${rate} burst ${burst} limit ${limitBytes}`,
    "tc netem (rate, delay, buffer)":
      `${add} netem rate ${rate} delay ${(1e6 * delayS).toFixed(0)}us ` +
      `limit ${limit + delayed}`,
    "ns-3 (queue of the device)":
      `pointToPoint.SetQueue("ns3::DropTailQueue<Packet>", ` +
      `"MaxSize", StringValue("${limit}p"));`,
    "ns-3 (after Assign, no FqCoDel before it)": "TrafficControlHelper().Uninstall(devices);",
    Mahimahi:
      "mm-link UPLINK DOWNLINK --uplink-queue=droptail " + `--uplink-queue-args="packets=${limit}"`,
  };
}
