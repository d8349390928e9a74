/** One bandwidth-delay product keeps a link busy after a window is halved. */

import { longFlowsOverDropTail, onlyControls } from "./assumptions";
import { bdpPackets, flowCount } from "./bottleneck";
import { assume, needPermanentFlows, type Rule } from "./rule";

export const RULE_OF_THUMB: Rule = {
  name: "rule_of_thumb",
  short: "C·RTT",
  title: "Rule of thumb: one bandwidth-delay product",
  source: "Villamizar and Song 1994, CCR 24(5)",
  predict: (link) => {
    needPermanentFlows(link);
    return { packets: bdpPackets(link), purpose: "full utilization" };
  },
  assumptions: (link) => {
    const flows = flowCount(link);
    return [
      onlyControls(link, "reno"),
      assume("one flow, or all reduce together", flows === 1, `${flows} flows`),
      ...longFlowsOverDropTail(link),
    ];
  },
};
