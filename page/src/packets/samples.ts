/** The queues and drops of all links over the span, from the time series of its run. */

import type { Watched } from "../engine/engine";
import { placeAbove } from "./fates";

/** Samples of a link in order of time. */
interface Samples {
  /** Seconds after the span begins. */
  times: number[];
  queue: number[];
  /** Drops since the span began. */
  drops: number[];
}

/** The packets that wait at a link, and those that it dropped since the span began. */
export interface Level {
  queue: number;
  drops: number;
  /** The packets at the link, also the one that is sent, where that is known. */
  present?: number;
}

export type LinkSamples = Map<string, Samples>;

export function samplesOf({ series, from_s, to_s }: Watched): LinkSamples {
  const links: LinkSamples = new Map();
  if (!series) return links;
  const { link, time_s: time, queue_packets: queue, drops_packets: drops } = series.link_series;
  link.forEach((at, row) => {
    const name = series.names.links[at ?? -1];
    const timeS = time[row] ?? 0;
    if (name === undefined || timeS < from_s || timeS > to_s) return;
    const samples = links.get(name) ?? { times: [], queue: [], drops: [] };
    samples.times.push(timeS - from_s);
    samples.queue.push(queue[row] ?? 0);
    const since = timeS > from_s ? (drops[row] ?? 0) : 0;
    samples.drops.push((samples.drops.at(-1) ?? 0) + since);
    links.set(name, samples);
  });
  return links;
}

/** The latest sample of each link at a time; before the first one, the first without its drops. */
export function levelsAt(links: LinkSamples, time: number): Map<string, Level> {
  const levels = new Map<string, Level>();
  for (const [name, { times, queue, drops }] of links) {
    const at = placeAbove(times, time) - 1;
    levels.set(name, { queue: queue[Math.max(0, at)] ?? 0, drops: drops[at] ?? 0 });
  }
  return levels;
}
