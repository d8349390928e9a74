/** A congested link: the buffer for full utilization and for few losses. */

import { longFlowsOverDropTail, onlyControls } from "./assumptions";
import { bdpPackets, capacityPps, flowCount, limitPackets, sum } from "./bottleneck";
import { general } from "./general_format";
import { assume, needPermanentFlows, NotApplicable, type Rule } from "./rule";

export const LOSS_AND_DELAY_BOUNDS: Rule = {
  name: "loss_and_delay_bounds",
  short: "few losses",
  title: "Congested link: buffer for full utilization and few losses",
  source: "Dhamdhere, Jiang, Dovrolis 2005, INFOCOM",
  predict: (link, target) => {
    needPermanentFlows(link);
    if (link.classes.some((flows) => flows.rttS === 0)) {
      throw new NotApplicable(`link ${link.name}: a round trip takes no time`);
    }
    const harmonic = flowCount(link) / sum(link.classes.map((one) => one.count / one.rttS));
    const bdp = capacityPps(link) * harmonic;
    // Window times sqrt(loss): 1.22 per flow, 0.87 with delayed ACKs (Mathis et al. 1997).
    const windows = sum(link.classes.map((one) => one.count * Math.sqrt(1.5 / one.packetsPerAck)));
    const forLoss = Math.max(0, windows / Math.sqrt(target.loss) - bdp);
    return {
      packets: Math.max(bdp, forLoss),
      purpose: `full utilization and a loss of ${general(target.loss, 4)}`,
    };
  },
  assumptions: (link) => {
    const flows = flowCount(link);
    const share = (bdpPackets(link) + limitPackets(link)) / flows;
    return [
      onlyControls(link, "reno"),
      assume("all flows reduce together", flows <= 2, `${flows} flows`),
      assume("windows hold several packets", share >= 4, `${general(share, 3)} packets each`),
      ...longFlowsOverDropTail(link),
    ];
  },
};
