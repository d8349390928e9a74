/** The buffer that keeps a link busy, from the decrease of a control: (1 - beta) / beta BDP. */

import { longFlowsOverDropTail } from "./assumptions";
import { bdpPackets, flowCount, type FlowClass } from "./bottleneck";
import { assume, needPermanentFlows, NotApplicable, type Rule } from "./rule";

/** Pacing gain of BBRv1 in the round trip after it probed (Cardwell et al. 2016). */
const BBR1_DRAINED = 0.75;
const LARGEST_BUFFER = 1e4;
/** The line b(w) of HighSpeed TCP ends here. */
const LEAST_DECREASE = 0.01;

/** Smallest utilization in a cycle with a buffer of b BDP, of a flow with that share of the BDP. */
type Minimum = (share: number, b: number) => number;

/** The part of a window that congestion takes, as a function of the window in packets. */
type Decrease = (window: number) => number;

function numberOf(flows: FlowClass, name: string, otherwise: number): number {
  const value = flows.parameters[name];
  return typeof value === "number" ? value : otherwise;
}

/** RFC 3649 sec. 5. */
function highspeed(flows: FlowClass): Decrease {
  const isTable = (flows.parameters["increase"] ?? "continuous") !== "continuous";
  const of = (name: string, otherwise: number): number =>
    isTable ? otherwise : numberOf(flows, name, otherwise);
  const low = of("low_window", 38);
  const span = Math.log(of("high_window", 83_000) / low);
  const fall = of("high_decrease", 0.1) - 0.5;
  return (w) => Math.max(LEAST_DECREASE, 0.5 + fall * Math.max(0, Math.log(w / low) / span));
}

/** Controls whose decrease depends on the window at most. */
const DECREASES: Record<string, (flows: FlowClass) => Decrease> = {
  reno: () => () => 0.5,
  dctcp: () => () => 0.5,
  cubic: (flows) => () => 1 - numberOf(flows, "beta", 0.7),
  aimd: (flows) => () => numberOf(flows, "decrease", 0.5),
  highspeed,
  scalable: (flows) => {
    const isKelly = (flows.parameters["variant"] ?? "kelly") === "kelly";
    const small = numberOf(flows, "legacy_window", 16);
    const b = numberOf(flows, "decrease", 0.125);
    return (w) => (isKelly && w <= small ? 0.5 : b);
  },
  bic: (flows) => {
    const small = numberOf(flows, "low_window", 14);
    return (w) => (w <= small ? 0.5 : numberOf(flows, "decrease", 205 / 1024));
  },
};

function minimumOf(flows: FlowClass): Minimum {
  if (flows.congestion === "bbr1") return (_share, b) => Math.min(1, BBR1_DRAINED + b);
  const decrease = DECREASES[flows.congestion]?.(flows);
  if (!decrease) {
    throw new NotApplicable(`the page knows no fixed decrease for ${flows.congestion}`);
  }
  return (share, b) => Math.min(1, (1 - decrease(share * (1 + b))) * (1 + b));
}

/** The smallest buffer, in BDP, that keeps the link busy; infinite if no buffer does. */
function requiredBdp(minimum: Minimum, share: number): number {
  if (minimum(share, LARGEST_BUFFER) < 1) return Infinity;
  let [low, high] = [0, LARGEST_BUFFER];
  while (high - low > 1e-13 * high) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (minimum(share, middle) < 1) low = middle;
    else high = middle;
  }
  return high;
}

export const DECREASE_RULE: Rule = {
  name: "decrease_rule",
  short: "(1−β)/β BDP",
  title: "Rule of thumb for any decrease: (1 - beta) / beta of a bandwidth-delay product",
  source: "Spang, Arslan, McKeown 2021, IFIP Performance, arXiv:2109.11693",
  predict: (link) => {
    needPermanentFlows(link);
    const bdp = bdpPackets(link);
    if (!bdp) throw new NotApplicable(`link ${link.name}: its round trips take no time`);
    const share = bdp / flowCount(link);
    const needs = link.classes.map((flows) => requiredBdp(minimumOf(flows), share));
    return { packets: Math.max(...needs) * bdp, purpose: "full utilization" };
  },
  assumptions: (link) => {
    const flows = flowCount(link);
    const kinds = [...new Set(link.classes.map((one) => one.congestion))].sort();
    return [
      assume("all flows run one control", kinds.length === 1, kinds.join(", ")),
      assume("one flow, or all reduce together", flows === 1, `${flows} flows`),
      ...longFlowsOverDropTail(link),
    ];
  },
};
