/** Pictures of one run from its time series. */

import type { Column, Delays, Series } from "../engine/engine";
import type { Axis, Line, Mark, Picture, Shade } from "../pictures/picture";
import { converted, type Bottleneck } from "../rules/bottleneck";
import { limitText } from "../rules/buffer_units";
import { isLimitedByPool, type Place } from "../scenario/place";
import type { Reading } from "../scenario/reading";
import { bytes, duration, percent, plain } from "../scenario/quantities";

/** Readers cannot tell more lines apart. */
const MOST_LINES = 10;

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
  /** NaN if the number of packets that fit depends on their sizes. */
  packets: number;
  words: string;
}

/** The limit of a link in a scenario's text. */
export function limitOf(link: Bottleneck, place: Place, text: string): Limit {
  const { unit, steps } = link.buffer;
  const isCounted = unit === "packets" || !link.packets_differ;
  const count = Math.floor(converted(link, steps, unit, "packets") * (1 + 1e-12));
  const memory = bytes(converted(link, steps, unit, "B"));
  const words = isLimitedByPool(text, place)
    ? `memory of the pool: ${memory}`
    : `limit: ${limitText(unit, steps)}`;
  return { packets: isCounted ? count : Number.NaN, words };
}

/** The number of waiting packets at a link over time, under its limit. */
export function queuePicture(series: Series, link: string, limit: Limit, span: Span): Picture {
  const at = series.names.links.indexOf(link);
  const rows = rowsOf(series.link_series.link, at);
  const queue = pick(series.link_series.queue_packets, rows);
  const marks: Mark[] = Number.isFinite(limit.packets)
    ? [{ axis: "y", at: limit.packets, label: limit.words, kind: "limit" }]
    : [];
  return {
    name: "queue",
    title: `Queue at “${link}”${marks.length > 0 ? "" : `, ${limit.words}`}`,
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

/** How long the packets waited, with the mark of the summary on the same curve. */
export function delayPicture(delays: Delays | null, link: string, p99: number | null): Picture {
  const waits = delays?.links[link]?.quantiles_s ?? [];
  const marks: Mark[] =
    p99 === null
      ? []
      : [{ axis: "x", at: 1000 * p99, label: "99 % of the packets", key: "99 %", kind: "limit" }];
  return {
    name: "delay",
    title: "Distribution of the queueing delay",
    x: { label: "queueing delay (ms)", log: false, min: 0 },
    y: { label: "packets that wait at most so long", log: false, min: 0, max: 1, percent: true },
    xs: waits.map((seconds) => 1000 * seconds),
    lines: [{ label: "packets", y: waits.map((_, at) => delays?.fractions[at] ?? null), style: 1 }],
    marks,
    shades: [],
  };
}

/** Numbers of the measured part of a run in progress, by their names on the page; empty before the first
 * packet. */
export function soFar(
  series: Series,
  delays: Delays | null,
  link: Bottleneck,
  span: Span,
): [string, string][] {
  const at = series.names.links.indexOf(link.name);
  const time = series.link_series.time_s;
  const rows = rowsOf(series.link_series.link, at).filter(
    (row) => (time[row] ?? 0) > span.measuredFromS,
  );
  const mean = (values: number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const { mean_s: meanS = null, quantiles_s: waits } = delays?.links[link.name] ?? {};
  if (rows.length === 0 || !waits) return [];
  return [
    ["Utilization", percent(mean(times(series.link_series.utilization, rows)))],
    ["Mean queueing delay", duration(meanS)],
    ["99th percentile", duration(waits[delays?.fractions.indexOf(0.99) ?? -1] ?? null)],
    ["Mean queue", `${plain(mean(times(series.link_series.queue_packets, rows)))} packets`],
  ];
}

/** The interval of the series of a scenario; of an ordinary one while none is read. */
export function intervalFor(reading: Pick<Reading, "input"> | null): string {
  const { duration_s: durationS, flows } = reading?.input ?? { duration_s: 60, flows: 10 };
  return seriesInterval(durationS, flows);
}

/** The interval of a run's time series: as fine as the picture shows, coarser for many flows. */
export function seriesInterval(durationS: number, flows: number): string {
  const samples = Math.min(2000, Math.max(300, 30_000 / Math.max(1, flows)));
  const interval = Math.max(1e-4, durationS / samples);
  return `"${Number(interval.toPrecision(2))} s"`;
}
