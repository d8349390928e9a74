/** What the pictures of packets are drawn from. */

import type { Watched } from "../engine/engine";
import { colourOf, type Theme } from "../pictures/picture";
import { evenlySpread } from "../see/live_pictures";
import type { Subject } from "./span";
import { samplesOf, type LinkSamples } from "./samples";
import {
  departures,
  fatesOf,
  countsOf,
  longestGap,
  placeAbove,
  type Counts,
  type Fates,
} from "./fates";

/** Windows that are drawn. */
const MOST_WINDOWS = 6;

export interface Curve {
  flow: number;
  times: number[];
  values: number[];
}

/** A span of a run at one link. */
export interface Strip {
  link: string;
  lengthS: number;
  beginS: number;
  fates: Fates;
  counts: Counts;
  /** Names by the numbers of flows. */
  names: string[];
  /** Numbers of the flows whose packets are in the span. */
  seen: number[];
  windows: Curve[];
  links: LinkSamples;
  /** Departures of the packets of the group that is watched. */
  calls: number[];
  gapS: number | null;
  who: string;
}

export function stripOf(watched: Watched, { span: { link }, discipline, who }: Subject): Strip {
  const fates = fatesOf(watched, discipline);
  const { flows, groups } = watched.names;
  const names = [...flows, ...groups];
  const isOfWho = (name: string): boolean => name === who || name.startsWith(`${who}.`);
  const wanted = names.flatMap((name, flow) => (who !== "" && isOfWho(name) ? [flow] : []));
  const calls = departures(fates, new Set(wanted));
  return {
    link,
    beginS: watched.from_s,
    lengthS: watched.to_s - watched.from_s,
    fates,
    counts: countsOf(watched),
    names,
    seen: [...new Set(fates.flow)].sort((a, b) => a - b),
    windows: windowsOf(watched),
    links: samplesOf(watched),
    calls,
    gapS: longestGap(calls),
    who,
  };
}

function windowsOf({ series, from_s, to_s }: Watched): Curve[] {
  const curves = new Map<number, Curve>();
  if (!series) return [];
  const { flow: flows, time_s: times, cwnd_packets: windows } = series.flow_series;
  flows.forEach((flow, row) => {
    const [time, value] = [times[row] ?? 0, windows[row] ?? null];
    if (flow === null || value === null || time < from_s || time > to_s) return;
    const curve = curves.get(flow) ?? { flow, times: [], values: [] };
    curve.times.push(time - from_s);
    curve.values.push(value);
    curves.set(flow, curve);
  });
  return evenlySpread([...curves.values()], MOST_WINDOWS);
}

/** The style of the packets of a flow by its place among those that are seen, which take turns. */
export function styleAt(place: number): number {
  return 1 + (place % 6);
}

export function colourOfFlow({ seen }: Strip, flow: number, theme: Theme): string {
  return colourOf(styleAt(placeAbove(seen, flow) - 1), theme);
}
