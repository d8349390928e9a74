/** DCTCP: the limit that holds the queue with a threshold of a seventh of the BDP. */

import {
  longFlowsAlone,
  oneBottleneck,
  onlyControls,
  steadyLink,
  unboundedWindows,
} from "./assumptions";
import { bdpPackets, flowCount, limitPackets } from "./bottleneck";
import { general } from "./general_format";
import { assume, needPermanentFlows, NotApplicable, type Rule } from "./rule";

/** Alizadeh et al. 2010, Eq. 13. */
const THRESHOLD_BDP = 1 / 7;
/** 2 ln 2, of the bound on the gain g (Alizadeh et al. 2010, Eq. 15). */
const BURST = 1.386;

export const DCTCP_THRESHOLD: Rule = {
  name: "dctcp_threshold",
  short: "DCTCP",
  title: "DCTCP: marking threshold and queue",
  source: "Alizadeh et al. 2010, SIGCOMM, Eqs. 3 to 15",
  predict: (link) => {
    needPermanentFlows(link);
    if (!link.classes.some((flows) => flows.congestion === "dctcp")) {
      throw new NotApplicable(`link ${link.name}: no DCTCP flow crosses it`);
    }
    if (link.discipline !== "step_mark") {
      throw new NotApplicable(
        `link ${link.name}: ${link.discipline} has no marking threshold; step_mark has one`,
      );
    }
    const bdp = bdpPackets(link);
    if (!bdp) throw new NotApplicable(`link ${link.name}: its round trips take no time`);
    return {
      packets: THRESHOLD_BDP * bdp + flowCount(link),
      purpose: "a threshold of a seventh of the bandwidth-delay product",
    };
  },
  assumptions: (link) => {
    const [flows, bdp, limit] = [flowCount(link), bdpPackets(link), limitPackets(link)];
    const threshold = link.amounts["threshold"] ?? 0;
    const window = (bdp + threshold) / flows;
    const gain = Math.max(0, ...link.classes.map((one) => Number(one.parameters["gain"] ?? 0)));
    const largest = BURST / Math.sqrt(2 * (bdp + threshold));
    const deaf = link.classes.filter((one) => !one.ecn).map((one) => one.group);
    const seventh = THRESHOLD_BDP * bdp;
    return [
      onlyControls(link, "dctcp"),
      assume("flows use ECN", deaf.length === 0, `${deaf.join(", ")} without`),
      assume(
        "the threshold is above a seventh of the bandwidth-delay product",
        threshold > seventh,
        `${general(threshold, 4)} packets, a seventh is ${general(seventh, 4)}`,
      ),
      assume("flows reduce together: few, with large windows", flows <= 10, `${flows} flows`),
      assume("windows are larger than 4 packets", window > 4, `${general(window, 3)} packets`),
      assume(
        "the estimate lasts for a cycle",
        gain <= largest,
        `gain ${general(gain, 4)}, where ${general(largest, 3)} is the bound`,
      ),
      assume(
        "the buffer holds the queue",
        limit >= threshold + flows,
        `${general(limit, 4)} packets for ${general(threshold + flows, 4)}`,
      ),
      unboundedWindows(link),
      longFlowsAlone(link),
      oneBottleneck(link),
      steadyLink(link),
    ];
  },
};
