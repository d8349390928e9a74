/** Many flows that do not reduce together: a bandwidth-delay product over the root of their number. */

import { counted, longFlowsOverDropTail, onlyControls } from "./assumptions";
import { bdpPackets, flowCount, limitPackets } from "./bottleneck";
import { general } from "./general_format";
import { assume, needPermanentFlows, type Rule } from "./rule";

/** Number of flows beyond which they seldom reduce together. */
export const MANY = 100;
const SMALL_WINDOW = 4;

export const SQUARE_ROOT_RULE: Rule = {
  name: "square_root_rule",
  short: "C·RTT/√n",
  title: "Square root rule: bandwidth-delay product over the root of the number of flows",
  source: "Appenzeller, Keslassy, McKeown 2004, SIGCOMM; Wischik, McKeown 2005, CCR 35(3)",
  predict: (link) => {
    needPermanentFlows(link);
    return {
      packets: bdpPackets(link) / Math.sqrt(flowCount(link)),
      purpose: "C T / sqrt(n)",
    };
  },
  assumptions: (link) => {
    const flows = flowCount(link);
    const window = (bdpPackets(link) + limitPackets(link)) / flows;
    const trips = new Set(link.classes.map((one) => one.rttS));
    return [
      onlyControls(link, "reno"),
      assume(`more than ${MANY} flows`, flows > MANY, counted(flows)),
      assume(
        "round trips differ",
        trips.size > 1,
        `all take ${general(1e3 * Math.max(...trips), 4)} ms`,
      ),
      assume(
        `windows are larger than ${SMALL_WINDOW} packets`,
        window > SMALL_WINDOW,
        `${general(window, 3)} packets`,
      ),
      ...longFlowsOverDropTail(link),
    ];
  },
};
