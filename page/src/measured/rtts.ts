/** RTTs of a measurement and of a run: their percentiles, and a picture of both over time. */

import type { Series } from "../engine/engine";
import type { Line, Picture } from "../pictures/picture";
import type { Measurement } from "./measurement";

/** RTTs in order of their times, in seconds. */
export interface Rtts {
  times: number[];
  rtts: number[];
}

/** Points of a line in the picture. */
const POINTS = 400;

/** The smallest smoothed RTT of a run's flows at each instant, as of the connections of a
 * measurement, from when its statistics begin. */
export function rttsOfRun(series: Pick<Series, "flow_series">, measuredFromS: number): Rtts {
  const { time_s: times, srtt_s: values } = series.flow_series;
  const smallest = new Map<number, number>();
  times.forEach((time, row) => {
    const rtt = values[row];
    // A flow has no smoothed RTT before its first sample.
    if (time === null || time < measuredFromS || !rtt) return;
    smallest.set(time, Math.min(rtt, smallest.get(time) ?? rtt));
  });
  return { times: [...smallest.keys()], rtts: [...smallest.values()] };
}

export function measuredRtts({ rtt_time_s: times, rtt_s: rtts }: Measurement): Rtts {
  return { times, rtts };
}

/** The value below which so many per cent are, on straight lines; null if there are none. */
export function percentile(values: number[], percent: number): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  const place = (percent / 100) * (sorted.length - 1);
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) return null;
  return below + (above - below) * (place % 1);
}

/** RTTs over the time since the first sample of each. */
export function rttPicture(measured: Rtts, simulated: Rtts): Picture | null {
  const sources: [string, Rtts][] = [
    ["measured", measured],
    ["this run", simulated],
  ];
  const known = sources.filter(([, { rtts }]) => rtts.length > 0);
  const lengths = known.map(([, { times }]) => (times.at(-1) ?? 0) - (times[0] ?? 0));
  const length = Math.max(...lengths);
  if (known.length === 0 || length <= 0) return null;
  const xs = Array.from({ length: POINTS }, (_, point) => length * (point / (POINTS - 1)));
  const lines: Line[] = known.map(([label, rtts], at) => ({
    label,
    y: xs.map((x) => valueAt(rtts, x)),
    style: at + 1,
  }));
  return {
    name: "measured-rtt",
    title: "RTTs, measured and of this run",
    x: { label: "time since the first RTT (s)", log: false, min: 0, max: length },
    y: { label: "RTT (ms)", log: false, min: 0 },
    xs,
    lines,
    marks: [],
    shades: [],
  };
}

/** The RTT in ms at a time since the first sample: the one before it, as a step. */
function valueAt({ times, rtts }: Rtts, sinceFirst: number): number | null {
  const first = times[0] ?? 0;
  if (sinceFirst > (times.at(-1) ?? 0) - first) return null;
  const time = first + sinceFirst;
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((times[middle] ?? 0) <= time) low = middle;
    else high = middle - 1;
  }
  return 1e3 * (rtts[low] ?? 0);
}
