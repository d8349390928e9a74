/** Pictures of one run from its time series. */

import type { Column, Series } from "../engine/engine";
import type { Axis, Line, Mark, Picture, Shade } from "../pictures/picture";
import { limitPackets, type Bottleneck } from "../rules/bottleneck";
import { wholePackets } from "../rules/buffer_units";
import { isLimitedByPool, queueKey, type Place } from "../scenario/place";
import { bytes, duration, percent, plain } from "../scenario/quantities";
import { parseToml, valueAt } from "../scenario/text";

/** Readers cannot tell more lines apart. */
const MOST_LINES = 10;
/** Points of a distribution. */
const QUANTILES = 400;

const MOST_MEANS = 150;

/** Means of neighbouring values, so that at most so many are left. */
function means(values: number[]): number[] {
  const size = Math.ceil(values.length / MOST_MEANS);
  const parts = Array.from({ length: Math.floor(values.length / Math.max(1, size)) }, (_, part) =>
    values.slice(part * size, (part + 1) * size),
  );
  return parts.map((part) => part.reduce((total, value) => total + value, 0) / part.length);
}

/** The times of a run: when its statistics begin, and when it ends. */
export interface Span {
  measuredFromS: number;
  durationS: number;
}

/** Rows of a table with this label. */
function rowsOf(labels: Column, wanted: number): number[] {
  const rows: number[] = [];
  for (let row = 0; row < labels.length; row++) if (labels[row] === wanted) rows.push(row);
  return rows;
}

/** Values of a table's rows. */
function pick(values: Column, rows: number[]): Column {
  return rows.map((row) => values[row] ?? null);
}

function times(values: Column, rows: number[]): number[] {
  return rows.map((row) => values[row] ?? 0);
}

/** The time of a run, whose pictures share pointer and zoom. */
export function timeAxis({ durationS }: Span): Axis {
  return { label: "time (s)", log: false, shared: true, min: 0, max: durationS };
}

export function beforeStatistics(span: Span): Shade[] {
  if (span.measuredFromS <= 0) return [];
  return [{ axis: "x", from: 0, to: span.measuredFromS, kind: "unmeasured" }];
}

/** What a queue cannot exceed: its own limit, or the memory of its pool. */
export interface Limit {
  packets: number;
  /** The name of a limit of so many packets. */
  words: (packets: number) => string;
}

/** The limit of a link in a scenario's text. */
export function limitOf(link: Bottleneck, place: Place, text: string): Limit {
  const packets = wholePackets(limitPackets(link));
  const size = (count: number): string => bytes(count * link.packet_bytes);
  const given = valueAt(parseToml(text), queueKey(place, "limit"));
  // More packets than the slider says fit into a limit in bytes, if some are small.
  const isInPackets = typeof given !== "string" || /packets?$|bdp$/.test(given);
  const words = (count: number): string => (isInPackets ? "limit" : `limit: ${size(count)}`);
  if (!isLimitedByPool(text, place)) return { packets, words };
  const memory = `memory of the pool: ${size(limitPackets(link))}`;
  return { packets, words: (count) => (count === packets ? memory : words(count)) };
}

/** The number of waiting packets at a link over time, under its limit. */
export function queuePicture(series: Series, link: string, limit: Limit, span: Span): Picture {
  const at = series.names.links.indexOf(link);
  const rows = rowsOf(series.link_series.link, at);
  const queue = pick(series.link_series.queue_packets, rows);
  const marks: Mark[] = Number.isFinite(limit.packets)
    ? [{ axis: "y", at: limit.packets, label: limit.words(limit.packets), kind: "limit" }]
    : [];
  return {
    name: "queue",
    title: `Queue at “${link}”`,
    x: timeAxis(span),
    y: { label: "waiting packets", log: false, min: 0 },
    xs: times(series.link_series.time_s, rows),
    lines: [{ label: "queue", y: queue, style: 1 }],
    marks,
    shades: beforeStatistics(span),
  };
}

/** Utilization of a link, as means over at most so many parts of the run. */
export function utilizationPicture(series: Series, link: string, span: Span): Picture {
  const at = series.names.links.indexOf(link);
  const rows = rowsOf(series.link_series.link, at);
  return {
    name: "utilization",
    title: `Utilization of ${link}`,
    x: timeAxis(span),
    y: { label: "utilization", log: false, min: 0, max: 1.02, percent: true },
    xs: means(times(series.link_series.time_s, rows)),
    lines: [
      {
        label: "utilization",
        y: means(times(series.link_series.utilization, rows)),
        style: 3,
      },
    ],
    marks: [],
    shades: beforeStatistics(span),
  };
}

/** Congestion windows over time, of at most ten flows. */
export function windowsPicture(series: Series, span: Span): Picture {
  const labels = series.flow_series.flow;
  const allTimes = series.flow_series.time_s;
  const windows = series.flow_series.cwnd_packets;
  const chosen = evenlySpread(controlled(labels, windows), MOST_LINES);
  const places = new Map(chosen.map((flow, place) => [flow, place]));
  const xs: number[] = [];
  const columns: (number | null)[][] = chosen.map(() => []);
  for (let row = 0; row < labels.length; row++) {
    const place = places.get(labels[row] ?? -1);
    if (place === undefined) continue;
    const time = allTimes[row] ?? 0;
    if (xs.at(-1) !== time) {
      xs.push(time);
      for (const values of columns) values.push(null);
    }
    const values = columns[place];
    if (values) values[xs.length - 1] = windows[row] ?? null;
  }
  const lines: Line[] = chosen.map((flow, place) => ({
    label: series.names.flows[flow] ?? String(flow),
    y: columns[place] ?? [],
    // The colours that the packets of the first flows have.
    style: place + 1,
    dashes: place,
  }));
  return {
    name: "windows",
    title: "Congestion windows",
    x: timeAxis(span),
    y: { label: "window (packets)", log: false, min: 0 },
    xs,
    lines,
    marks: [],
    shades: beforeStatistics(span),
  };
}

/** The flows that have a window. */
function controlled(labels: Column, windows: Column): number[] {
  const flows = new Set<number>();
  for (let row = 0; row < labels.length; row++) {
    const label = labels[row];
    if (label !== null && label !== undefined && windows[row] !== null) flows.add(label);
  }
  return [...flows].sort((a, b) => a - b);
}

export function evenlySpread<T>(items: T[], most: number): T[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, place) => {
    const at = Math.round((place * (items.length - 1)) / (most - 1));
    return items[at] as T;
  });
}

/** How long a packet that arrives at a random time waits: the queue's samples at the link's rate. */
export function delayPicture(
  series: Series,
  link: string,
  packetsPerS: number,
  span: Span,
  p99: number | null,
): Picture {
  const at = series.names.links.indexOf(link);
  const time = series.link_series.time_s;
  const rows = rowsOf(series.link_series.link, at).filter(
    (row) => (time[row] ?? 0) >= span.measuredFromS,
  );
  const delays = pick(series.link_series.queue_packets, rows)
    .filter((queue) => queue !== null)
    .map((queue) => (1000 * queue) / packetsPerS)
    .sort((a, b) => a - b);
  const points = Math.min(QUANTILES, delays.length);
  const places = Array.from({ length: points }, (_, point) =>
    points < 2 ? 0 : Math.round((point * (delays.length - 1)) / (points - 1)),
  );
  const marks: Mark[] =
    p99 === null
      ? []
      : [{ axis: "x", at: 1000 * p99, label: "99 % of the packets", key: "99 %", kind: "limit" }];
  return {
    name: "delay",
    title: "Distribution of the queueing delay",
    x: { label: "queueing delay (ms)", log: false, min: 0 },
    y: { label: "samples at most so long", log: false, min: 0, max: 1, percent: true },
    xs: places.map((place) => delays[place] ?? 0),
    lines: [
      {
        label: `of ${delays.length} samples`,
        y: places.map((place) => (place + 1) / Math.max(1, delays.length)),
        style: 1,
      },
    ],
    marks,
    shades: [],
  };
}

/** Numbers of the measured part of a run in progress, from the samples so far, by their names on the
 * page; empty before the first one. */
export function soFar(series: Series, link: Bottleneck, span: Span): [string, string][] {
  const at = series.names.links.indexOf(link.name);
  const time = series.link_series.time_s;
  const rows = rowsOf(series.link_series.link, at).filter(
    (row) => (time[row] ?? 0) > span.measuredFromS,
  );
  const mean = (values: number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const queue = times(series.link_series.queue_packets, rows).sort((a, b) => a - b);
  const high = queue[Math.ceil(0.99 * queue.length) - 1];
  if (high === undefined) return [];
  return [
    ["Utilization", percent(mean(times(series.link_series.utilization, rows)))],
    ["Mean queueing delay", duration(mean(queue) / link.capacity_pps)],
    ["99th percentile", duration(high / link.capacity_pps)],
    ["Mean queue", `${plain(mean(queue))} packets`],
  ];
}

/** The interval of a run's time series: as fine as the picture shows, coarser for many flows. */
export function seriesInterval(durationS: number, flows: number): string {
  const samples = Math.min(2000, Math.max(300, 30_000 / Math.max(1, flows)));
  const interval = Math.max(1e-4, durationS / samples);
  return `"${Number(interval.toPrecision(2))} s"`;
}
