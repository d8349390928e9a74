/** One link of a network and the traffic that crosses it: what rules read. As in Python's models. */

import type { ModelGroup, ModelInput, ModelLink } from "../engine/engine";

/** Identical permanent flows under congestion control. */
export interface FlowClass {
  group: string;
  count: number;
  rttS: number;
  congestion: string;
  parameters: Record<string, unknown>;
  packetBytes: number;
  accessRateBps: number;
  maxWindow: number;
  packetsPerAck: number;
  pacing: boolean;
  sendBurst: number;
  ecn: boolean;
}

/** Traffic beside the permanent flows: unresponsive streams, and flows that arrive and depart. */
export interface OtherTraffic {
  group: string;
  process: string;
  rateBps: number;
  packetBytes: number;
  fixedSize: boolean;
}

export interface Bottleneck {
  name: string;
  rateBps: number;
  discipline: string;
  /** The parameters of the discipline as the scenario gives them. */
  parameters: Record<string, unknown>;
  /** Amounts in the buffer (`limit`, `threshold`), in waiting packets. */
  amounts: Record<string, number>;
  packetBytes: number;
  classes: FlowClass[];
  streams: OtherTraffic[];
  dynamic: OtherTraffic[];
  randomLoss: number;
  otherLinks: string[];
  changes: boolean;
  packetSizes: number[];
}

export function limitPackets(link: Bottleneck): number {
  return link.amounts["limit"] ?? Number.NaN;
}

/** The same link with another queue limit, in waiting packets. */
export function withLimit(link: Bottleneck, limit: number): Bottleneck {
  return { ...link, amounts: { ...link.amounts, limit } };
}

/** Packets with the packet in transmission: K of M/M/1/K. */
export function systemPackets(link: Bottleneck): number {
  return limitPackets(link) + 1;
}

export function capacityPps(link: Bottleneck): number {
  return link.rateBps / (8 * link.packetBytes);
}

/** Number of permanent flows under congestion control. */
export function flowCount(link: Bottleneck): number {
  return sum(link.classes.map((flows) => flows.count));
}

/** Mean propagation RTT of these flows; 0 without any. */
export function meanRttS(link: Bottleneck): number {
  const flows = flowCount(link);
  return flows === 0 ? 0 : sum(link.classes.map((one) => one.count * one.rttS)) / flows;
}

export function bdpPackets(link: Bottleneck): number {
  return capacityPps(link) * meanRttS(link);
}

export function streamLoad(link: Bottleneck): number {
  return sum(link.streams.map((stream) => stream.rateBps)) / link.rateBps;
}

export function dynamicLoad(link: Bottleneck): number {
  return sum(link.dynamic.map((source) => source.rateBps)) / link.rateBps;
}

export function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Names of the links that carry data packets, in the order of the scenario. */
export function crossedLinks(input: ModelInput): string[] {
  const crossed = new Set(input.groups.flatMap((group) => group.path));
  return input.links.map((link) => link.name).filter((name) => crossed.has(name));
}

/** Name of the slowest link that flows cross, and among equally slow ones the busiest. */
export function busiestLink(input: ModelInput): string | null {
  const crossed = new Set(crossedLinks(input));
  const flows = (link: ModelLink): number =>
    sum(
      input.groups
        .filter((group) => group.path.includes(link.name))
        .flatMap((group) => group.flows.map((one) => one.count)),
    );
  const links = input.links.filter((link) => crossed.has(link.name));
  links.sort((a, b) => a.rate_bps - b.rate_bps || flows(b) - flows(a));
  return links[0]?.name ?? null;
}

/** Reads a link of a network. */
export function readBottleneck(input: ModelInput, name: string): Bottleneck | null {
  const link = input.links.find((one) => one.name === name);
  if (!link) return null;
  const groups = input.groups.filter((group) => group.path.includes(name));
  const classes = groups.flatMap(classesOf);
  const streams = groups.filter((group) => group.source.kind === "stream").map(streamOf);
  const dynamic = groups.filter((group) => group.source.kind === "dynamic").map(dynamicOf);
  const packetBytes = meanPacketBytes(classes, [...streams, ...dynamic]);
  const others = new Set(groups.flatMap((group) => [...group.path, ...group.reverse_path]));
  others.delete(name);
  return {
    name,
    rateBps: link.rate_bps,
    discipline: link.discipline,
    parameters: link.parameters,
    amounts: Object.fromEntries(
      link.amounts.map(({ key, packets, bytes }) => [key, packets ?? (bytes ?? 0) / packetBytes]),
    ),
    packetBytes,
    classes,
    streams,
    dynamic,
    randomLoss: link.random_loss_fraction,
    otherLinks: [...others].sort(),
    changes: link.changes,
    packetSizes: [...new Set(groups.map((group) => group.packet_bytes))],
  };
}

/** Mean size weighted by number of flows; without permanent flows, by rate. */
function meanPacketBytes(classes: FlowClass[], others: OtherTraffic[]): number {
  const sizes = classes.length
    ? classes.map((flows) => [flows.count, flows.packetBytes] as const)
    : others.map((other) => [other.rateBps / other.packetBytes, other.packetBytes] as const);
  const weight = sum(sizes.map(([share]) => share));
  return weight ? sum(sizes.map(([share, size]) => share * size)) / weight : 1500;
}

/** A class per RTT and access rate of the group. */
function classesOf(group: ModelGroup): FlowClass[] {
  const transport = group.transport;
  if (group.source.kind !== "bulk" || !transport) return [];
  const classes = new Map<string, FlowClass>();
  for (const { count, rtt_s, access_rate_bps } of group.flows) {
    const key = `${rtt_s} ${access_rate_bps ?? ""}`;
    const known = classes.get(key);
    if (known) known.count += count;
    else {
      classes.set(key, {
        group: group.name,
        count,
        rttS: rtt_s,
        congestion: transport.congestion,
        parameters: transport.parameters,
        packetBytes: group.packet_bytes,
        accessRateBps: access_rate_bps ?? Infinity,
        maxWindow: transport.max_window ?? Infinity,
        packetsPerAck: transport.packets_per_ack,
        pacing: transport.pacing,
        sendBurst: transport.send_burst,
        ecn: transport.ecn,
      });
    }
  }
  return [...classes.values()];
}

function streamOf(group: ModelGroup): OtherTraffic {
  const count = sum(group.flows.map((flows) => flows.count));
  return {
    group: group.name,
    process: group.source.process ?? "",
    rateBps: count * (group.source.rate_bps ?? 0),
    packetBytes: group.packet_bytes,
    fixedSize: group.source.fixed_size ?? true,
  };
}

function dynamicOf(group: ModelGroup): OtherTraffic {
  return {
    group: group.name,
    process: group.source.process ?? "",
    rateBps: 8 * (group.source.arrivals_per_s ?? 0) * (group.source.wire_bytes_mean ?? 0),
    packetBytes: group.packet_bytes,
    fixedSize: true,
  };
}
