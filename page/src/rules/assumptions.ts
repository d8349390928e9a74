/** Assumptions that several rules share, each checked against a link. */

import {
  bdpPackets,
  dynamicLoad,
  flowCount,
  limitPackets,
  streamLoad,
  type Bottleneck,
} from "./bottleneck";
import { general } from "./general_format";
import { assume, type Assumption } from "./rule";

export function dropTail(link: Bottleneck): Assumption {
  return assume("the buffer is DropTail", link.discipline === "drop_tail", link.discipline);
}

export function oneBottleneck(link: Bottleneck): Assumption {
  const others = link.otherLinks;
  return assume("flows cross no other shared link", others.length === 0, others.join(", "));
}

export function steadyLink(link: Bottleneck): Assumption {
  const found = link.changes
    ? "rate or delay change"
    : `the wire loses ${general(link.randomLoss, 3)} of the packets`;
  const holds = !link.changes && link.randomLoss === 0;
  return assume("the link is steady and loses nothing", holds, found);
}

export function onePacketSize(link: Bottleneck): Assumption {
  const sizes = link.packetSizes;
  const varied = link.streams.filter((stream) => !stream.fixedSize).map(({ group }) => group);
  const found =
    sizes.length > 1
      ? `${Math.min(...sizes)} to ${Math.max(...sizes)} B`
      : `${varied.join(", ")} varies`;
  return assume("packets have one size", sizes.length <= 1 && varied.length === 0, found);
}

export function longFlowsAlone(link: Bottleneck): Assumption {
  const load = streamLoad(link) + dynamicLoad(link);
  const others = [...link.streams, ...link.dynamic].map(({ group }) => group);
  const found = `${others.join(", ")} offer ${general(load, 3)} of the rate`;
  return assume("nothing else crosses the link", others.length === 0, found);
}

export function unboundedWindows(link: Bottleneck): Assumption {
  const need = (bdpPackets(link) + limitPackets(link)) / Math.max(1, flowCount(link));
  const windows = link.classes.map((flows) => flows.maxWindow);
  const least = windows.length > 0 ? Math.min(...windows) : need;
  const found = `${general(least)} packets, where a share of link and buffer is ${general(need, 4)}`;
  return assume("windows have no other bound", least >= need, found);
}

export function counted(flows: number): string {
  return flows === 1 ? "1 flow" : `${flows} flows`;
}

export function onlyControls(link: Bottleneck, ...controls: string[]): Assumption {
  const found = new Set(link.classes.map((flows) => flows.congestion));
  const others = [...found].filter((name) => !controls.includes(name)).sort();
  return assume(`flows run ${controls.join(" or ")}`, others.length === 0, others.join(", "));
}

/** The assumptions of nearly every rule for long flows. */
export function longFlowsOverDropTail(link: Bottleneck): Assumption[] {
  return [
    unboundedWindows(link),
    dropTail(link),
    longFlowsAlone(link),
    oneBottleneck(link),
    steadyLink(link),
  ];
}
