/** BBRv1: the buffer below which several flows lose packets all the time. */

import { longFlowsOverDropTail, onlyControls } from "./assumptions";
import { bdpPackets, flowCount, limitPackets, sum } from "./bottleneck";
import { general } from "./general_format";
import { assume, needPermanentFlows, NotApplicable, type Rule } from "./rule";

/** RFC 9743, of BBRv1. */
const LOSSLESS_BDP = 1.5;
/** Buffer at which one flow's slow round trip does not empty it (Spang et al. 2021). */
const ALONE_BDP = 0.25;

export const BBR_BUFFER: Rule = {
  name: "bbr_buffer",
  short: "BBRv1",
  title: "BBRv1: its queue, its buffer, its share beside loss-based flows",
  source: "Cardwell et al. 2016; Ware, Mukerjee, Seshan, Sherry 2019, IMC; RFC 9743",
  predict: (link) => {
    needPermanentFlows(link);
    const own = link.classes.filter((flows) => flows.congestion === "bbr1");
    const flows = sum(own.map((one) => one.count));
    if (flows === 0) throw new NotApplicable(`link ${link.name}: no BBRv1 flow crosses it`);
    const bdp = bdpPackets(link);
    return flows === 1 && flowCount(link) === 1
      ? { packets: ALONE_BDP * bdp, purpose: "full utilization" }
      : { packets: LOSSLESS_BDP * bdp, purpose: "BBRv1 without lasting loss" };
  },
  assumptions: (link) => {
    const trips = [...new Set(link.classes.map((flows) => flows.rttS))].sort((a, b) => a - b);
    const [least, most] = [trips[0] ?? 0, trips.at(-1) ?? 0];
    const [limit, bdp] = [limitPackets(link), bdpPackets(link)];
    return [
      onlyControls(link, "bbr1", "cubic", "reno"),
      assume(
        "flows have one round trip time",
        trips.length === 1,
        `${general(1e3 * least, 4)} to ${general(1e3 * most, 4)} ms`,
      ),
      assume(
        `the buffer holds ${LOSSLESS_BDP} bandwidth-delay products`,
        limit >= LOSSLESS_BDP * bdp,
        `${general(limit, 4)} packets for ${general(LOSSLESS_BDP * bdp, 4)}`,
      ),
      ...longFlowsOverDropTail(link),
    ];
  },
};
