/**
 * A buffer in the words of other tools: Linux tc, ns-3, Mahimahi. As `tailroom size` prints it; the
 * sources are in Python's `export/other_tools.py`.
 */

import { general } from "../rules/general_format";
import { capacityPps, meanRttS, type Bottleneck } from "../rules/bottleneck";

/** The configuration of a buffer in another tool. */
export interface Equivalent {
  /** The tool and what it configures. */
  tool: string;
  /** Where the configuration belongs, and what else it does; may be empty. */
  purpose: string;
  /** The command or statement; without an exact equivalent, a sentence that says why. */
  text: string;
}

type Lines = (link: Bottleneck, limit: number) => Equivalent[];

/** Timer interrupts per second of common Linux kernels; the burst of tbf is at least rate / HZ. */
const LINUX_HZ = 250;
/** Linux's pie and fq_pie take alpha and beta as whole numbers up to 32, in sixteenths of 1/s. */
const TC_GAINS_PER_HZ = 16;
const TC_LARGEST_GAIN = 32;
/** Burst allowance of Linux's pie and fq_pie, which is not an option. */
const LINUX_MAX_BURST_US = 150_000;
/** Probability up to which Linux's pie marks, which is not an option. */
const LINUX_PIE_MARK_UP_TO = 0.1;

const TC = "tc qdisc replace dev DEV root";
const PORT = "on the router's own port";

/**
 * The configuration of a link's queue discipline in other tools; `DEV` stands for the network
 * interface. A tool that cannot express the discipline has a sentence instead of a command.
 */
export function equivalents(link: Bottleneck, limitPackets: number): Equivalent[] {
  const limit = Math.max(1, Math.round(limitPackets));
  return (DISCIPLINES[link.discipline] ?? without)(link, limit);
}

/** The limit of netem also counts the packets that netem delays. */
function dropTail(link: Bottleneck, limit: number): Equivalent[] {
  const rate = `${link.rateBps.toFixed(0)}bit`;
  const packetBytes = Math.ceil(link.packetBytes);
  const limitBytes = limit * packetBytes;
  const delayS = meanRttS(link) / 2;
  const delayed = Math.ceil(capacityPps(link) * delayS);
  const burst = Math.max(Math.ceil(link.rateBps / 8 / LINUX_HZ), packetBytes);
  const delay = `${(1e6 * delayS).toFixed(0)}us`;
  return [
    line("tc pfifo (packets)", PORT, `${TC} pfifo limit ${limit}`),
    line("tc bfifo (bytes)", PORT, `${TC} bfifo limit ${limitBytes}`),
    line(
      "tc tbf (rate and buffer)",
      shaper(burst, limitBytes, packetBytes),
      `${TC} tbf rate ${rate} burst ${burst} limit ${limitBytes}`,
    ),
    line(
      "tc netem (rate, delay, buffer)",
      `on a testbed: adds a delay of ${delay}, half of the mean RTT`,
      `${TC} netem rate ${rate} delay ${delay} limit ${limit + delayed}`,
    ),
    line(
      "ns-3 (queue of the device)",
      "",
      `pointToPoint.SetQueue("ns3::DropTailQueue<Packet>", ` +
        `"MaxSize", StringValue("${limit}p"));`,
    ),
    line(
      "ns-3 (after Assign, no FqCoDel before it)",
      "",
      "TrafficControlHelper().Uninstall(devices);",
    ),
    mahimahi("droptail", `packets=${limit}`),
  ];
}

/** What tbf is for, and why its burst is not smaller. */
function shaper(burst: number, limitBytes: number, packetBytes: number): string {
  const purpose = "a shaper in front of a slower line";
  if (burst === packetBytes) return `${purpose}; its burst is one packet`;
  const least = `its burst is the least at ${LINUX_HZ} timer interrupts per second`;
  if (burst <= limitBytes) return `${purpose}; ${least}`;
  const times = `${(burst / limitBytes).toFixed(1)} times this buffer`;
  return `${purpose}; ${least}, ${times}, and passes without a queue`;
}

function dropHead(_link: Bottleneck, limit: number): Equivalent[] {
  return [
    line("tc pfifo_head_drop (packets)", PORT, `${TC} pfifo_head_drop limit ${limit}`),
    none("ns-3", "it has no queue that drops from the head"),
    mahimahi("drophead", `packets=${limit}`),
  ];
}

function codel(link: Bottleneck, limit: number): Equivalent[] {
  const target = microseconds(link, "target");
  const interval = microseconds(link, "interval");
  if (target === null || interval === null) return [wholeMicroseconds()];
  const times = `target ${time(target)} interval ${time(interval)}`;
  const lines = [
    line("tc codel", PORT, `${TC} codel limit ${limit} ${times} ecn`),
    ...ns3("CoDelQueueDisc", codelAttributes(limit, target, interval)),
  ];
  if (target % 1000 || interval % 1000) {
    return [...lines, none("Mahimahi", "it takes times in whole milliseconds")];
  }
  const args = `packets=${limit}, target=${target / 1000}, interval=${interval / 1000}`;
  return [...lines, mahimahi("codel", args, "drops packets that ECN would mark")];
}

function fqCodel(link: Bottleneck, limit: number): Equivalent[] {
  const target = microseconds(link, "target");
  const interval = microseconds(link, "interval");
  if (target === null || interval === null) return [wholeMicroseconds()];
  const flows = numberOf(link, "flows");
  const quantum = quantumOf(link);
  const times = `target ${time(target)} interval ${time(interval)}`;
  const attributes = {
    ...codelAttributes(limit, target, interval),
    Flows: `UintegerValue(${flows})`,
  };
  const after = ` DynamicCast<FqCoDelQueueDisc>(discs.Get(0))->SetQuantum(${quantum});`;
  return [
    line(
      "tc fq_codel",
      PORT,
      `${TC} fq_codel limit ${limit} ${times} flows ${flows} quantum ${quantum} ecn`,
    ),
    ...ns3("FqCoDelQueueDisc", attributes, after),
    none("Mahimahi", "it has no fq_codel"),
  ];
}

function pie(link: Bottleneck, limit: number): Equivalent[] {
  const target = microseconds(link, "target");
  const update = microseconds(link, "update_interval");
  const burst = microseconds(link, "max_burst");
  const gains = tcGains(link);
  const markUpTo = numberOf(link, "mark_up_to");
  const isDerandomized = link.parameters["derandomize"] === true;
  const isLinux =
    burst === LINUX_MAX_BURST_US && isDerandomized && markUpTo === LINUX_PIE_MARK_UP_TO;
  const tc =
    target && update && gains && isLinux
      ? line(
          "tc pie",
          PORT,
          `${TC} pie limit ${limit} target ${time(target)} tupdate ${time(update)} ${gains} ecn`,
        )
      : none(
          "tc pie",
          "it has max_burst 150 ms, mark_up_to 0.1, derandomize true, times in whole " +
            "microseconds, and alpha and beta up to 2 in sixteenths",
        );
  if (target === null || update === null || burst === null) {
    return [tc, none("ns-3 and Mahimahi", "the times are not whole microseconds")];
  }
  const attributes = {
    MaxSize: `StringValue("${limit}p")`,
    QueueDelayReference: `StringValue("${time(target)}")`,
    Tupdate: `StringValue("${time(update)}")`,
    A: `DoubleValue(${general(numberOf(link, "alpha"), 6)})`,
    B: `DoubleValue(${general(numberOf(link, "beta"), 6)})`,
    MaxBurstAllowance: `StringValue("${time(burst)}")`,
    MeanPktSize: `UintegerValue(${Math.ceil(link.packetBytes)})`,
    UseEcn: "BooleanValue(true)",
    MarkEcnThreshold: `DoubleValue(${general(markUpTo, 6)})`,
    UseDerandomization: `BooleanValue(${isDerandomized})`,
  };
  const other = none("Mahimahi", "its pie has other steps and updates every 30 ms");
  return [tc, ...ns3("PieQueueDisc", attributes), other];
}

function fqPie(link: Bottleneck, limit: number): Equivalent[] {
  const target = microseconds(link, "target");
  const update = microseconds(link, "update_interval");
  const gains = tcGains(link);
  const percent = Math.round(100 * numberOf(link, "mark_up_to"));
  const isLinux =
    microseconds(link, "max_burst") === LINUX_MAX_BURST_US &&
    link.parameters["derandomize"] === true &&
    Math.abs(100 * numberOf(link, "mark_up_to") - percent) < 1e-9;
  const others = none(
    "ns-3 and Mahimahi",
    "ns-3's full FqPieQueueDisc drops from the longest queue, and Mahimahi has no fq_pie",
  );
  if (!target || !update || !gains || !isLinux) {
    const reason =
      "it has max_burst 150 ms, derandomize true, mark_up_to in whole percent, times in " +
      "whole microseconds, and alpha and beta up to 2 in sixteenths";
    return [none("tc fq_pie", reason), others];
  }
  const text =
    `${TC} fq_pie limit ${limit} flows ${numberOf(link, "flows")} target ${time(target)} ` +
    `tupdate ${time(update)} ${gains} quantum ${quantumOf(link)} ecn_prob ${percent} ecn`;
  return [line("tc fq_pie", PORT, text), others];
}

function red(): Equivalent[] {
  return [
    none(
      "tc and Mahimahi",
      "Linux's red has no gentle mode and takes the weight as a power of two, and Mahimahi " +
        "has no red",
    ),
    line("ns-3", "", "RedQueueDisc has these parameters by other names; set them there"),
  ];
}

/** Why a discipline has no exact equivalent in any of the tools. */
const REASONS: Record<string, string> = {
  step_mark: "their RED marks with a probability that grows between two thresholds",
  wred: "their RED takes an average, and spaces its marks",
  random_drop: "none of them drops a random packet of a full buffer",
  dual_pi2:
    "dualpi2 of Linux 6.17 marks L4S packets at a step without a ramp, and none while fewer " +
    "than two packets wait",
  fair: "Linux's sfq hashes flows into slots and has a limit per flow",
};

function without({ discipline }: Bottleneck): Equivalent[] {
  const reason = REASONS[discipline] ?? "none of them has this discipline";
  return [none(`${discipline} in tc, ns-3 and Mahimahi`, reason)];
}

const DISCIPLINES: Record<string, Lines> = {
  drop_tail: dropTail,
  drop_head: dropHead,
  codel,
  fq_codel: fqCodel,
  pie,
  fq_pie: fqPie,
  red,
  adaptive_red: red,
};

function line(tool: string, purpose: string, text: string): Equivalent {
  return { tool, purpose, text };
}

function none(tool: string, reason: string): Equivalent {
  return line(tool, "", `no exact equivalent: ${reason}`);
}

function wholeMicroseconds(): Equivalent {
  return none("tc, ns-3 and Mahimahi", "tc takes times in whole microseconds");
}

/** The command of mm-link, whose times are in milliseconds. */
function mahimahi(queue: string, args: string, purpose = ""): Equivalent {
  const options = `--uplink-queue=${queue} --uplink-queue-args="${args}"`;
  return line("Mahimahi", purpose, `mm-link UPLINK DOWNLINK ${options}`);
}

function codelAttributes(limit: number, target: number, interval: number): Record<string, string> {
  return {
    MaxSize: `StringValue("${limit}p")`,
    Target: `StringValue("${time(target)}")`,
    Interval: `StringValue("${time(interval)}")`,
    UseEcn: "BooleanValue(true)",
  };
}

/** The statements for a queue disc; behind it, the device keeps a queue of one packet. */
function ns3(disc: string, attributes: Record<string, string>, after = ""): Equivalent[] {
  const pairs = Object.entries(attributes).map(([name, value]) => `"${name}", ${value}`);
  const statements =
    "TrafficControlHelper control; " +
    `control.SetRootQueueDisc("ns3::${disc}", ${pairs.join(", ")}); ` +
    `QueueDiscContainer discs = control.Install(devices);${after}`;
  const one = 'pointToPoint.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));';
  return [
    line("ns-3 (queue of the device)", "of one packet, the least", one),
    line("ns-3 (before Assign)", "in place of the FqCoDel that Assign installs", statements),
  ];
}

/** Alpha and beta as options of tc; empty if tc cannot express them. */
function tcGains(link: Bottleneck): string {
  const gains = ["alpha", "beta"].map((key) => TC_GAINS_PER_HZ * numberOf(link, key));
  const isExpressed = gains.every((gain) => Number.isInteger(gain) && gain <= TC_LARGEST_GAIN);
  return isExpressed ? `alpha ${gains[0]} beta ${gains[1]}` : "";
}

function numberOf(link: Bottleneck, key: string): number {
  return Number(link.parameters[key]);
}

/** The quantum in bytes; the engine writes sizes as "1514 B". */
function quantumOf(link: Bottleneck): number {
  return parseInt(String(link.parameters["quantum"]), 10);
}

/** Microseconds of the units in which the engine writes durations. */
const UNITS_US: Record<string, number> = { s: 1e6, ms: 1e3, us: 1, ns: 1e-3, ps: 1e-6 };

/** A duration in microseconds; null if it is not a whole number. */
function microseconds(link: Bottleneck, key: string): number | null {
  const [number, unit] = String(link.parameters[key]).split(" ");
  const exact = Number(number) * (UNITS_US[unit ?? ""] ?? Number.NaN);
  const whole = Math.round(exact);
  return Math.abs(exact - whole) < 1e-6 ? whole : null;
}

/** A duration as tc and ns-3 write it. */
function time(us: number): string {
  return us % 1000 ? `${us}us` : `${us / 1000}ms`;
}
