/** The burst cliff: utilization of long flows at small buffers, where bursts decide.
 *
 * docs/models/burst-cliff.md derives the law and gives its error. For one flow the law needs the
 * sawtooth model, which the page does not have; `tailroom size` does.
 */

import {
  dropTail,
  longFlowsAlone,
  oneBottleneck,
  onePacketSize,
  steadyLink,
  unboundedWindows,
} from "./assumptions";
import { bdpPackets, capacityPps, flowCount, type Bottleneck } from "./bottleneck";
import { general } from "./general_format";
import { assume, needPermanentFlows, NotApplicable, type Rule } from "./rule";
import { smallestLimit } from "./smallest_limit";

interface Control {
  shortfall: number;
  decayBdp: number;
  flowsExponent: number;
  /** Factor of the cliff's edge without pacing. */
  edge: number;
}

const CONTROLS: Record<string, Control> = {
  reno: { shortfall: 0.33, decayBdp: 0.12, flowsExponent: 0.18, edge: 0.127 },
  highspeed: { shortfall: 0.26, decayBdp: 0.165, flowsExponent: 0.14, edge: 0.151 },
  cubic: { shortfall: 0.17, decayBdp: 0.056, flowsExponent: 0.07, edge: 0.116 },
  bbr3: { shortfall: 0.45, decayBdp: 0.14, flowsExponent: 0.7, edge: 0 },
};

const LEAST_WINDOW = 2.5;
const EDGE_WINDOW_EXPONENT = 0.2;
const EDGE_FLOWS_EXPONENT = 0.4;
const EDGE_SHARPNESS = 12;
const PACED_LOSS = 0.38;
const PACED_SHARPNESS = 0.75;
const BBR_LOSS = 0.095;
const BBR_SHARPNESS = 0.5;
const IN_SERVICE = 0.4;
const LARGEST_QUANTUM_BYTES = 65_536;
const SMALLEST_QUANTUM_PACKETS = 2;
const QUANTUM_S = 1e-3;
const FITTED_WINDOWS = [25, 1200] as const;
const FITTED_FLOWS = [3, 30] as const;

interface Hosts {
  name: string;
  control: Control;
  burst: number;
  isPaced: boolean;
}

function hosts(link: Bottleneck): Hosts {
  needPermanentFlows(link);
  if (bdpPackets(link) <= 0) {
    throw new NotApplicable(`link ${link.name}: flows have no propagation delay`);
  }
  const names = [...new Set(link.classes.map((flows) => flows.congestion))].sort();
  const [name = ""] = names;
  const control = CONTROLS[name];
  if (names.length > 1 || !control) {
    throw new NotApplicable(
      `link ${link.name}: flows run ${names.join(", ")}; the law is fitted for flows of one ` +
        `control, which is ${Object.keys(CONTROLS).join(", ")}`,
    );
  }
  const pacing = new Set(link.classes.map((flows) => flows.pacing || name === "bbr3"));
  if (pacing.size > 1) {
    throw new NotApplicable(
      `link ${link.name}: some flows are paced and some are not; the law is fitted for equal hosts`,
    );
  }
  const burst = Math.max(...link.classes.map((flows) => flows.sendBurst));
  return { name, control, burst, isPaced: pacing.has(true) };
}

/** 1 - D n^-g exp(-B / (X BDP)). */
function fullPipe(control: Control, limit: number, bdp: number, flows: number): number {
  const unused = control.shortfall / flows ** control.flowsExponent;
  return 1 - unused * Math.exp(-limit / (control.decayBdp * bdp));
}

/** Share of the full pipe that windows in trains reach below the edge. */
function trainFill(limit: number, bdp: number, flows: number, burst: number): number {
  const usable = limit / (1 + Math.min(1, burst / limit));
  const window = ((usable ** 2 * bdp) / (flows - 1)) ** (1 / 3) + LEAST_WINDOW;
  const y = (window * flows) / bdp;
  return y / Math.hypot(1, y);
}

/** E = k BDP / w^(1/5) + s n^(2/5), in packets. */
function edgePackets(control: Control, bdp: number, flows: number, burst: number): number {
  const spread = control.edge * bdp * (bdp / flows) ** -EDGE_WINDOW_EXPONENT;
  return spread + burst * flows ** EDGE_FLOWS_EXPONENT;
}

function unpaced(
  control: Control,
  limit: number,
  bdp: number,
  flows: number,
  burst: number,
): number {
  const full = fullPipe(control, limit, bdp, flows);
  const trains = trainFill(limit, bdp, flows, burst);
  const beyond = EDGE_SHARPNESS * Math.log(edgePackets(control, bdp, flows, burst) / limit);
  const spread = 1 / (1 + Math.exp(Math.min(beyond, 700)));
  return full * (1 - (1 - trains) * (1 - spread));
}

/** y = max(0, c ln(w) / (b - 0.4) - b / n), and the share is (1 + y^k)^(-1/k). */
function pacedFill(
  bursts: number,
  window: number,
  flows: number,
  lossFactor: number,
  sharpness: number,
): number {
  const reach = (lossFactor * Math.log(Math.max(1, window))) / Math.max(1e-3, bursts - IN_SERVICE);
  const y = Math.max(0, reach - bursts / flows);
  return (1 + y ** sharpness) ** (-1 / sharpness);
}

/** Utilization of BBRv3, whose bursts grow with its rate: the root of a falling function. */
function bbr(
  link: Bottleneck,
  control: Control,
  limit: number,
  bdp: number,
  flows: number,
): number {
  const full = fullPipe(control, limit, bdp, flows);
  const largest = LARGEST_QUANTUM_BYTES / link.packetBytes;
  const flowPps = capacityPps(link) / flows;
  const missing = (u: number): number => {
    const quantum = Math.max(SMALLEST_QUANTUM_PACKETS, u * flowPps * QUANTUM_S);
    const bursts = limit / Math.min(largest, quantum);
    return full * pacedFill(bursts, bdp / flows, flows, BBR_LOSS, BBR_SHARPNESS) - u;
  };
  let [low, high] = [0, 1];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (missing(middle) > 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Utilization with another queue limit, in packets. */
export function cliffUtilization(link: Bottleneck, packets: number): number {
  const { name, control, burst, isPaced } = hosts(link);
  const [limit, bdp, flows] = [Math.max(1, packets), bdpPackets(link), flowCount(link)];
  if (name === "bbr3") return bbr(link, control, limit, bdp, flows);
  if (flows === 1) {
    throw new NotApplicable(
      `link ${link.name}: for one flow the law needs the sawtooth model, which only ` +
        "`tailroom size` has",
    );
  }
  if (!isPaced) return unpaced(control, limit, bdp, flows, burst);
  const full = fullPipe(control, limit, bdp, flows);
  return full * pacedFill(limit, bdp / flows, flows, PACED_LOSS, PACED_SHARPNESS);
}

/** The edge of the cliff in packets; null for paced flows or for one flow, which have none. */
export function cliffEdge(link: Bottleneck): number | null {
  try {
    const { control, burst, isPaced } = hosts(link);
    const flows = flowCount(link);
    return isPaced || flows === 1 ? null : edgePackets(control, bdpPackets(link), flows, burst);
  } catch (error) {
    if (error instanceof NotApplicable) return null;
    throw error;
  }
}

export const BURST_CLIFF: Rule = {
  name: "burst_cliff",
  short: "burst cliff",
  title: "Burst cliff: utilization at small buffers, with and without pacing",
  source: "new; derived and fitted in docs/models/burst-cliff.md",
  predict: (link, target) => {
    const meets = (limit: number): boolean => cliffUtilization(link, limit) >= target.utilization;
    return {
      packets: smallestLimit(meets),
      purpose: `${general(100 * target.utilization)} % utilization`,
    };
  },
  assumptions: (link) => {
    const { name, burst, isPaced } = hosts(link);
    const flows = flowCount(link);
    const trips = [...new Set(link.classes.map((one) => one.rttS))].sort((a, b) => a - b);
    const [low, high] = FITTED_WINDOWS;
    const [fewest, most] = FITTED_FLOWS;
    const window = bdpPackets(link) / flows;
    const slowest = Math.min(...link.classes.map((one) => one.accessRateBps));
    const delayed = Math.max(...link.classes.map((one) => one.packetsPerAck));
    return [
      assume(
        "round trips differ, so that trains meet by chance",
        flows === 1 || trips.length > 1,
        `all take ${general(1e3 * (trips[0] ?? 0), 4)} ms`,
      ),
      assume(
        `a flow's share of the bandwidth-delay product is ${low} to ${high} packets`,
        low <= window && window <= high,
        `${general(window, 4)} packets`,
      ),
      assume(
        `one flow, or ${fewest} to ${most} flows as in the fit`,
        flows === 1 || (fewest <= flows && flows <= most),
        `${flows} flows`,
      ),
      assume(
        "paced flows send packets one by one",
        burst === 1 || !isPaced || name === "bbr3",
        `bursts of ${burst}`,
      ),
      assume("each packet is acknowledged", delayed === 1, `one ACK for ${delayed} packets`),
      assume(
        "access links are faster than the link",
        slowest > link.rateBps,
        `${general(slowest / 1e6, 6)} Mbit/s`,
      ),
      unboundedWindows(link),
      onePacketSize(link),
      dropTail(link),
      longFlowsAlone(link),
      oneBottleneck(link),
      steadyLink(link),
    ];
  },
};
