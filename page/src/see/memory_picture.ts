/** The memory of a pool over time, and which links have it; `tailroom run --out` draws the same. */

import type { PoolOfLinks, PoolSummary, Series } from "../engine/engine";
import type { Line, Picture } from "../pictures/picture";
import { bytes } from "../scenario/quantities";
import { beforeStatistics, timeAxis, type Span } from "./live_pictures";

/** Links with areas of their own; the others share one. */
const MOST_AREAS = 6;
/** With more samples, a column of the picture stands for several. */
const MOST_COLUMNS = 400;
const MEGABYTE = 1e6;

/** Samples of the links of a pool: the memory of each, in the order of the pool. */
interface Samples {
  times: number[];
  memory: number[][];
}

/**
 * The memory of the links of a pool, one above the other, and the pool's size: of the pool of this link,
 * else of the first one; null without pools.
 *
 * @param shares - The pools of the run's summary, which order the links; before it, the samples do.
 */
export function memoryPicture(
  series: Series,
  link: string,
  span: Span,
  shares: Record<string, PoolSummary>,
): Picture | null {
  const { pools = [], names } = series;
  const own = names.links.indexOf(link);
  const pool = pools.find(({ links }) => links.includes(own)) ?? pools[0];
  if (!pool) return null;
  const samples = samplesOf(series, pool);
  const nameOf = (place: number): string => names.links[pool.links[place] ?? -1] ?? "";
  const sharesOf = shares[pool.name]?.links ?? {};
  const shareOf = (place: number): number =>
    shares[pool.name] ? (sharesOf[nameOf(place)]?.memory_share ?? 0) : sum(samples.memory[place]);
  const ranked = pool.links.map((_, place) => place).sort((a, b) => shareOf(b) - shareOf(a));
  const few = ranked.length <= MOST_AREAS + 1 ? ranked : ranked.slice(0, MOST_AREAS);
  const rest = ranked.slice(few.length);
  const size = Math.max(1, Math.ceil(samples.times.length / MOST_COLUMNS));
  const areas = few.map((place) => ({ label: nameOf(place), of: samples.memory[place] ?? [] }));
  const restOf = totals(rest.map((place) => samples.memory[place] ?? []));
  if (rest.length > 0) areas.push({ label: `${rest.length} others`, of: restOf });
  const lines = areas.map(({ label, of }, style): Line => ({
    label,
    y: columns(of, size, mean),
    style,
    area: true,
  }));
  const largest = columns(totals(samples.memory), size, (part) => Math.max(...part));
  if (size > 1) lines.push({ label: "all, largest", y: largest, style: 0 });
  return {
    name: "memory",
    title: `Memory of ${pool.name}`,
    x: timeAxis(span),
    y: { label: "memory (MB)", log: false, min: 0 },
    xs: columns(samples.times, size, (part) => part.at(-1) ?? 0),
    lines,
    marks: [
      {
        axis: "y",
        at: pool.size_bytes / MEGABYTE,
        label: `size, ${bytes(pool.size_bytes)}`,
        kind: "limit",
      },
    ],
    shades: beforeStatistics(span),
  };
}

function samplesOf({ pool_series: table }: Series, { links }: PoolOfLinks): Samples {
  const places = new Map(links.map((link, place) => [link, place]));
  const samples: Samples = { times: [], memory: links.map(() => []) };
  table?.link.forEach((link, row) => {
    const place = places.get(link ?? -1);
    if (place === undefined) return;
    if (place === 0) samples.times.push(table.time_s[row] ?? 0);
    samples.memory[place]?.push((table.memory_bytes[row] ?? 0) / MEGABYTE);
  });
  return samples;
}

const sum = (values: number[] = []): number => values.reduce((total, value) => total + value, 0);
const mean = (values: number[]): number => sum(values) / values.length;

/** The sum of several rows, place by place. */
function totals(rows: number[][]): number[] {
  return (rows[0] ?? []).map((_, place) => sum(rows.map((row) => row[place] ?? 0)));
}

/** One value for each whole part of so many values. */
function columns(values: number[], size: number, of: (part: number[]) => number): number[] {
  return Array.from({ length: Math.floor(values.length / size) }, (_, part) =>
    of(values.slice(part * size, (part + 1) * size)),
  );
}
