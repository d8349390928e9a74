import { expect, test } from "vitest";
import { POOL_COLUMNS, type Answer, type Series } from "../src/engine/engine";
import { heights, rangeOf } from "../src/pictures/picture";
import { svgText } from "../src/pictures/svg";
import { memoryPicture } from "../src/see/memory_picture";
import { wasm } from "./engine_here";

const SPAN = { measuredFromS: 0, durationS: 1 };

/** A pool of 12 MB whose links have so many megabytes at each sample, a second apart. */
function seriesOf(memory: number[][]): Series {
  const rows = (memory[0] ?? []).flatMap((_, sample) =>
    memory.map((values, link) => ({ sample, link: link + 1, megabytes: values[sample] ?? 0 })),
  );
  const links = memory.map((_, link) => link + 1);
  return {
    link_series: {
      time_s: [],
      link: [],
      queue_packets: [],
      utilization: [],
      drops_packets: [],
      marks_packets: [],
    },
    flow_series: { time_s: [], flow: [], cwnd_packets: [], srtt_s: [] },
    pool_series: {
      time_s: rows.map(({ sample }) => sample),
      link: rows.map(({ link }) => link),
      memory_bytes: rows.map(({ megabytes }) => megabytes * 1e6),
    },
    pools: [{ name: "asic", size_bytes: 12e6, links }],
    names: { links: ["alone", ...links.map((link) => `port${link}`)], flows: [] },
  };
}

function pictureOf(
  series: Series,
  shares: Parameters<typeof memoryPicture>[3] = {},
): NonNullable<ReturnType<typeof memoryPicture>> {
  const picture = memoryPicture(series, "alone", SPAN, shares);
  if (!picture) throw new Error("there is a pool");
  return picture;
}

test("the memory of each link stands on that of the links with more, under the pool's size", () => {
  const picture = pictureOf(
    seriesOf([
      [1, 2],
      [3, 4],
    ]),
  );
  expect(picture.lines.map(({ label, y }) => [label, y])).toEqual([
    ["port2", [3, 4]],
    ["port1", [1, 2]],
  ]);
  expect(heights(picture)).toEqual([
    [3, 4],
    [4, 6],
  ]);
  expect(picture.marks.map(({ at }) => at)).toEqual([12]);
  expect(rangeOf(picture, "y")).toEqual([0, 12.6]);
});

test("the file has the same areas, each between its neighbours", () => {
  const text = svgText(
    pictureOf(
      seriesOf([
        [1, 2],
        [3, 4],
      ]),
    ),
  );
  const areas = [...text.matchAll(/<path d="M([^"]*)Z"/g)].map(([, path]) =>
    (path ?? "").split("L").map((place) => Number(place.split(" ")[1])),
  );
  // The lower edge of the picture is y = 300 and means 0, the upper one y = 40 and means 12.6 MB.
  const at = (megabytes: number): number =>
    Math.round(100 * (300 - (260 * megabytes) / 12.6)) / 100;
  expect(areas).toEqual([
    [at(3), at(4), at(0), at(0)],
    [at(4), at(6), at(4), at(3)],
  ]);
  expect(
    [...text.matchAll(/<rect [^>]*height="12" fill="(#\w+)"/g)].map(([, fill]) => fill),
  ).toEqual(["#000000", "#0072B2"]);
});

test("of more than seven links the six with most have areas, and the summary says which", () => {
  const series = seriesOf(Array.from({ length: 8 }, (_, link) => [link + 1]));
  const { lines } = pictureOf(series);
  expect(lines.map(({ label }) => label)).toEqual([
    ...[8, 7, 6, 5, 4, 3].map((port) => `port${port}`),
    "2 others",
  ]);
  expect(lines.at(-1)?.y).toEqual([1 + 2]);
  expect(new Set(lines.map(({ style }) => style)).size).toBe(7);
  const shared = { port1: { memory_share: 0.7 }, port8: { memory_share: 0.3 } };
  const [first, second] = pictureOf(series, { asic: { links: shared } }).lines;
  expect([first?.label, second?.label]).toEqual(["port1", "port8"]);
});

test("a column of many samples is their mean, with the largest memory of all links", () => {
  const up = Array.from({ length: 800 }, (_, sample) => sample / 400);
  const down = up.map((value) => 4 - value);
  const [first, second, largest] = pictureOf(seriesOf([up, down])).lines;
  expect(first?.y.length).toBe(400);
  expect(first?.y[1]).toBeCloseTo(4 - 2.5 / 400);
  expect(second?.y[1]).toBeCloseTo(2.5 / 400);
  expect(largest?.label).toBe("all, largest");
  for (const value of largest?.y ?? []) expect(value).toBeCloseTo(4);
});

test("a scenario without a pool has no such picture", () => {
  const { pools, pool_series, ...rest } = seriesOf([[1]]);
  expect(pools && pool_series && memoryPicture(rest, "alone", SPAN, {})).toBe(null);
});

test("the engine hands over the memory, which never exceeds the pool", () => {
  const text = `duration = "0.2 s"
[series]
interval = "1 ms"
[pools.memory]
size = "100 kB"
policy = "complete_sharing"
[links.a]
pool = "memory"
rate = "100 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail" }
[links.b]
pool = "memory"
rate = "50 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail" }
[flows.a]
count = 2
path = ["a"]
congestion = "cubic"
rtt = "10 ms"
[flows.b]
count = 2
path = ["b"]
congestion = "cubic"
rtt = "10 ms"
`;
  const run = new wasm.Run(text, "{}", 1n, new wasm.Files("{}"));
  while (run.advance(1000) < 1);
  const { series, summary } = JSON.parse(run.finish()) as Answer;
  if (!series) throw new Error("the scenario has series");
  expect(Object.keys(series.pool_series ?? {})).toEqual(expect.arrayContaining([...POOL_COLUMNS]));
  expect(series.pools).toEqual([{ name: "memory", size_bytes: 100_000, links: [0, 1] }]);
  const picture = pictureOf(series, summary.pools);
  const highest = Math.max(...(heights(picture).at(-1) ?? []).map(Number));
  expect(highest).toBeGreaterThan(0.09);
  expect(highest).toBeLessThanOrEqual(0.1);
});
