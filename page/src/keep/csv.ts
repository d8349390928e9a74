/** Tables as CSV (RFC 4180), with decimal points. */

import type { Columns, Series, Unit } from "../engine/engine";
import { intervalOf, type Metric, type Point, pointAt } from "../study/point";

type Cell = string | number | null;

export function csvText(rows: Cell[][]): string {
  return rows.map((row) => `${row.map(cellText).join(",")}\r\n`).join("");
}

function cellText(cell: Cell): string {
  if (cell === null) return "";
  const text = String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function columnsText(columns: Columns, label: string, names: string[]): string {
  const keys = Object.keys(columns);
  const count = columns[keys[0] ?? ""]?.length ?? 0;
  const rows: Cell[][] = [keys];
  for (let row = 0; row < count; row++) {
    rows.push(
      keys.map((key) => {
        const value = columns[key]?.[row] ?? null;
        return key === label && value !== null ? (names[value] ?? value) : value;
      }),
    );
  }
  return csvText(rows);
}

export function linkSeriesCsv(series: Series): string {
  return columnsText(series.link_series, "link", series.names.links);
}

export function flowSeriesCsv(series: Series): string {
  return columnsText(series.flow_series, "flow", series.names.flows);
}

const METRICS: [Metric, string][] = [
  ["utilization", "utilization"],
  ["delayMeanS", "queue_delay_s_mean"],
  ["delayP99S", "queue_delay_s_p99"],
  ["loss", "loss_fraction"],
  ["jain", "jain_index"],
];

const LIMITS: Record<Unit, [name: string, steps: number]> = {
  packets: ["limit_packets", 1],
  B: ["limit_bytes", 1],
  ns: ["limit_ns", 1],
  bdp: ["limit_bdp", 1e6],
};

/** Mean and half of the 95 % interval of every metric, by buffer. */
export function tradeOffCsv(points: Map<number, Point>, unit: Unit): string {
  const [name, steps] = LIMITS[unit];
  const head = METRICS.flatMap(([, name]) => [name, `${name}_half_width`]);
  const limits = [...points.keys()].sort((a, b) => a - b);
  const rows = limits.map((limit): Cell[] => {
    const point = pointAt(points, limit);
    const cells = METRICS.flatMap(([metric]): Cell[] => {
      const interval = intervalOf(point, metric);
      if (!interval) return [null, null];
      const { mean, halfWidth } = interval;
      return [mean, Number.isFinite(halfWidth) ? halfWidth : null];
    });
    return [limit / steps, point.size, ...cells];
  });
  return csvText([[name, "runs", ...head], ...rows]);
}
