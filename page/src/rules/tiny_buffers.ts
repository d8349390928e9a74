/** Tens of packets suffice if flows cannot fill the link: the buffer grows with log(window). */

import { dropTail, oneBottleneck, onePacketSize, onlyControls, steadyLink } from "./assumptions";
import { dynamicLoad, streamLoad, sum, type Bottleneck, type FlowClass } from "./bottleneck";
import { general } from "./general_format";
import { assume, needPermanentFlows, NotApplicable, type Rule } from "./rule";

/** Share of the link's rate below which an access link spreads a flow's packets far enough. */
const SLOW_ACCESS = 0.01;

/** Largest rate of a flow on an empty path: its access rate, or its window per round trip. */
function rateLimitBps(flows: FlowClass): number {
  const byWindow = flows.rttS ? (8 * flows.packetBytes * flows.maxWindow) / flows.rttS : Infinity;
  return Math.min(flows.accessRateBps, byWindow);
}

/** The offered load, which must be below 1. */
function needLoadBelowOne(link: Bottleneck): number {
  const unlimited = link.classes.filter((flows) => rateLimitBps(flows) === Infinity);
  if (unlimited.length > 0) {
    const groups = [...new Set(unlimited.map((flows) => flows.group))].join(", ");
    throw new NotApplicable(
      `link ${link.name}: neither access rate nor window limits the flows of ${groups}, which ` +
        "take all they can get",
    );
  }
  const permanent = sum(link.classes.map((flows) => flows.count * rateLimitBps(flows)));
  const load = permanent / link.rateBps + streamLoad(link) + dynamicLoad(link);
  if (load > 0 && load < 1) return load;
  throw new NotApplicable(
    `link ${link.name}: the offered load is ${general(load, 4)}; this model is for loads between ` +
      "0 and 1",
  );
}

function windowBound(flows: FlowClass): number {
  return Math.max(1, (rateLimitBps(flows) * flows.rttS) / (8 * flows.packetBytes));
}

function isSmooth(link: Bottleneck, flows: FlowClass): boolean {
  return flows.pacing || flows.accessRateBps <= SLOW_ACCESS * link.rateBps;
}

export const TINY_BUFFERS: Rule = {
  name: "tiny_buffers",
  short: "tiny",
  title: "Tiny buffers: the logarithm of the window, for links that flows cannot fill",
  source: "Enachescu, Ganjali, Goel, McKeown, Roughgarden 2006, INFOCOM, Theorem 1",
  predict: (link, target) => {
    needPermanentFlows(link);
    const load = needLoadBelowOne(link);
    const window = Math.max(...link.classes.map(windowBound));
    const packets = Math.log(window ** 2 / (2 * (1 - target.utilization))) / Math.log(1 / load);
    return {
      packets: Math.max(1, Math.ceil(packets) - 1),
      purpose: `${general(target.utilization, 4)} of what is offered`,
    };
  },
  assumptions: (link) => {
    const rushing = link.classes.filter((flows) => !isSmooth(link, flows));
    const groups = [...new Set(rushing.map((flows) => flows.group))].join(", ");
    const fastest = rushing.length
      ? Math.max(...rushing.map((flows) => flows.accessRateBps))
      : Infinity;
    const speed =
      fastest === Infinity ? "of any rate" : `of up to ${general(fastest / 1e6, 4)} Mbit/s`;
    const bursts = link.streams.some((stream) => stream.process === "on_off");
    return [
      assume(
        "flows are paced, or access links are a hundred times slower than the link",
        rushing.length === 0,
        `${groups} unpaced, with access links ${speed}`,
      ),
      onlyControls(link, "reno", "aimd"),
      assume("nothing else comes in bursts", link.dynamic.length === 0 && !bursts, "flows that do"),
      onePacketSize(link),
      dropTail(link),
      oneBottleneck(link),
      steadyLink(link),
    ];
  },
};
