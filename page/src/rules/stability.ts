/** Many Reno flows at a small buffer: the fixed point of their windows and its stability. */

import { counted, longFlowsOverDropTail, onlyControls } from "./assumptions";
import { bdpPackets, flowCount, systemPackets } from "./bottleneck";
import { general } from "./general_format";
import { assume, needPermanentFlows, NotApplicable, type Rule } from "./rule";
import { smallestLimit } from "./smallest_limit";
import { MANY } from "./square_root_rule";

const SMALL = 100;

/** Window at which flows settle: w^2 (w / share)^B = 2. */
function settled(share: number, packets: number): number {
  return Math.exp((Math.log(2) + packets * Math.log(share)) / (packets + 2));
}

/** Longest delay, in round trips, at which the fixed point would be stable. */
function margin(share: number, packets: number): number {
  if (packets <= 2) return Infinity;
  return (settled(share, packets) * Math.acos(-2 / packets)) / Math.sqrt(packets ** 2 - 4);
}

export const STABILITY: Rule = {
  name: "stability",
  short: "fixed point",
  title: "Small buffers: where many Reno flows settle, and whether they do",
  source: "Raina, Wischik 2005, NGI; Raina, Towsley, Wischik 2005, CCR 35(3)",
  predict: (link, target) => {
    needPermanentFlows(link);
    const share = bdpPackets(link) / flowCount(link);
    if (share <= Math.SQRT2) {
      throw new NotApplicable(
        `link ${link.name}: ${general(share, 3)} packets of the bandwidth-delay product a flow; ` +
          "below sqrt(2) even a window that always loses would be too large",
      );
    }
    const meets = (limit: number): boolean => {
      const window = settled(share, limit + 1);
      return (window / share) * (1 - 2 / window ** 2) >= target.utilization;
    };
    return {
      packets: smallestLimit(meets),
      purpose: `${general(target.utilization, 4)} of the rate`,
    };
  },
  assumptions: (link) => {
    const flows = flowCount(link);
    const packets = systemPackets(link);
    const trips = margin(bdpPackets(link) / flows, packets);
    return [
      onlyControls(link, "reno"),
      assume(`more than ${MANY} flows`, flows > MANY, counted(flows)),
      assume(
        `the buffer is small, at most ${SMALL} packets`,
        packets <= SMALL,
        `${general(packets, 4)} packets`,
      ),
      assume(
        "windows settle",
        trips > 1,
        `a delay of ${general(trips, 3)} round trips makes them oscillate`,
      ),
      ...longFlowsOverDropTail(link),
    ];
  },
};
