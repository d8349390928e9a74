import { expect, test } from "vitest";
import {
  FLOW_COLUMNS,
  LINK_COLUMNS,
  type Answer,
  type ModelInput,
  type Summary,
  type Watched,
} from "../src/engine/engine";
import { layout, momentText, spanText } from "../src/packets/drawing";
import { countsOf, departures, eachPresent, fatesOf, longestGap } from "../src/packets/fates";
import { subjectOf } from "../src/packets/span";
import { stripOf } from "../src/packets/strip";
import { wasm } from "./engine_here";

const FILES = new wasm.Files("{}");
const scenario = (kind: string): string => `duration = "6 s"
[links.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "${kind}", limit = "20 packets" }
[flows.reno]
count = 3
path = ["bottleneck"]
congestion = "reno"
rtt = "40 ms"
[flows.voice]
path = ["bottleneck"]
packet_size = "200 B"
rtt = "40 ms"
source = { kind = "cbr", rate = "64 kbit/s" }
`;
const KINDS = ["drop_tail", "drop_head", "fq_codel", "codel", "random_drop"];

function watch(text: string, from: number, to: number): Watched {
  const packets = new wasm.Packets(text, "{}", undefined, FILES, "bottleneck", from, to);
  while (packets.advance(1000) < 1);
  packets.sort();
  return {
    ...(JSON.parse(packets.about()) as Watched),
    present: packets.present(),
    presentMarks: packets.present_marks(),
    times: packets.times(),
    events: packets.events(),
    flows: packets.flows(),
  };
}

function answerTo(text: string): Answer {
  const run = new wasm.Run(text, "{}", undefined, FILES);
  while (run.advance(1000) < 1);
  return JSON.parse(run.finish()) as Answer;
}

function summaryOf(text: string): Summary {
  return answerTo(text).summary;
}

/** What the page would watch of a scenario. */
function subjectIn(text: string): ReturnType<typeof subjectOf> {
  const input = JSON.parse(wasm.model_input(text, "{}", undefined, FILES)) as ModelInput;
  const [first] = input.links;
  if (!first) throw new Error("no link");
  const link = { ...first, buffer: { unit: "packets" as const, steps: 1 } };
  return subjectOf({ text, input, link, who: "", answer: answerTo(text) });
}

test.each(KINDS)(
  "a whole run has the drops of its summary, and no packet is lost sight of: %s",
  (kind) => {
    const watched = watch(scenario(kind), 0, 6);
    const counts = countsOf(watched);
    const link = summaryOf(scenario(kind)).links["bottleneck"];
    expect(counts.drops).toBe(link?.drops_packets);
    expect(counts.drops).toBeGreaterThan(0);
    const fates = fatesOf(watched, kind);
    expect(fates.drops.length).toBe(counts.drops);
    expect(fates.end.filter((end) => end < Infinity).length).toBe(counts.departures + counts.drops);
  },
);

test.each(KINDS)(
  "a span begins with the packets that the whole run has at that time: %s",
  (kind) => {
    const [whole, part] = [watch(scenario(kind), 0, 4), watch(scenario(kind), 3, 4)];
    const present: number[] = [];
    const fates = fatesOf(whole, kind);
    eachPresent(fates, 3 - 1e-9, (packet) => present.push(fates.flow[packet] ?? 0));
    expect([...part.present].sort()).toEqual(present.sort());
    const later = [...whole.times].filter((time) => time >= 3);
    const picoseconds = (seconds: number): number => Math.round(seconds * 1e12);
    expect([...part.times].map((time) => picoseconds(time + 3))).toEqual(later.map(picoseconds));
  },
);

const MARKING = scenario("step_mark")
  .replace('limit = "20', 'threshold = "5 packets", limit = "100')
  .replace('"reno"', '"reno"\necn = "classic"');
const SAMPLED = 'series.interval = "10 ms"\n';

test("the engine's time series have the columns that the page reads", () => {
  const { series } = answerTo(SAMPLED + scenario("drop_tail"));
  expect(Object.keys(series?.link_series ?? {})).toEqual(expect.arrayContaining([...LINK_COLUMNS]));
  expect(Object.keys(series?.flow_series ?? {})).toEqual(expect.arrayContaining([...FLOW_COLUMNS]));
});

test("the first loss of the measured part is a quarter into the span, or the first mark", () => {
  const from = `${SAMPLED}measure_from = "2 s"\n`;
  for (const text of [from + scenario("drop_tail"), from + MARKING]) {
    const subject = subjectIn(text);
    const { fates } = stripOf(watch(text, 0, 6), subject);
    const signals = [...fates.dropTimes, ...fates.markTimes];
    const first = Math.min(...signals.filter((time) => time > 2));
    const { beginS, toS } = subject.span;
    const early = beginS + (toS - beginS) / 4 - first;
    // The loss or mark is before the sample that shows it, 10 ms at most; the begin has four digits.
    expect(early).toBeGreaterThanOrEqual(-0.001);
    expect(early).toBeLessThanOrEqual(0.011);
  }
});

/** At arrival, at arrival with drops, and when a packet leaves. */
const MARKING_KINDS: [kind: string, text: string][] = [
  ["step_mark", MARKING],
  ["pie", marking("pie")],
  ["codel", marking("codel")],
  ["fq_codel", marking("fq_codel")],
];

function marking(kind: string): string {
  const text = scenario(kind).replace("20 packets", "100 packets");
  return text.replace('"reno"', '"reno"\necn = "classic"');
}

test.each(MARKING_KINDS)("marks of a whole run are those of its summary: %s", (kind, text) => {
  const watched = watch(text, 0, 6);
  const { marks_packets: marks } = summaryOf(text).links["bottleneck"] ?? {};
  expect(marks).toBeGreaterThan(0);
  const fates = fatesOf(watched, kind);
  expect(countsOf(watched).marks).toBe(marks);
  expect(fates.markTimes.length).toBe(marks);
  // Each mark is that of another packet, which is at the link and whose flow can be marked.
  const marked = [...fates.marked.keys()].filter(
    (packet) => (fates.marked[packet] ?? 0) < Infinity,
  );
  expect(marked.length).toBe(marks);
  for (const packet of marked) {
    const time = fates.marked[packet] ?? 0;
    expect(time).toBeGreaterThanOrEqual(fates.arrival[packet] ?? 0);
    expect(time).toBeLessThan(fates.end[packet] ?? 0);
    expect(watched.names.flows[fates.flow[packet] ?? -1]).toMatch(/^reno/);
  }
});

test("a threshold marks the packets that find it reached", () => {
  const fates = fatesOf(watch(MARKING, 0, 6), "step_mark");
  const voice = 3;
  let found = 0;
  for (let packet = 0; packet < fates.flow.length; packet++) {
    const time = fates.arrival[packet] ?? 0;
    if (fates.flow[packet] === voice) continue;
    let before = 0;
    eachPresent(fates, time, (other) => (before += Number(other < packet)));
    // Of the packets at the link one is in transmission; with its last bit it leaves.
    if (before <= 5) expect(fates.marked[packet]).toBe(Infinity);
    if (before > 6 && fates.marked[packet] === time) found++;
  }
  expect(found).toBeGreaterThan(20);
});

test.each(MARKING_KINDS)(
  "a span begins with the marks that the whole run has at that time: %s",
  (kind, text) => {
    const whole = fatesOf(watch(text, 0, 5), kind);
    let most = 0;
    for (const from of [1.0003, 2.0001, 3.7, 4.2]) {
      const { present, presentMarks } = watch(text, from, 5);
      const found: string[] = [];
      present.forEach((flow, place) => found.push(`${flow} ${presentMarks[place]}`));
      const expected: string[] = [];
      eachPresent(whole, from - 1e-9, (packet) => {
        const isMarked = (whole.marked[packet] ?? 0) < from;
        expected.push(`${whole.flow[packet]} ${Number(isMarked)}`);
      });
      expect(found.sort()).toEqual(expected.sort());
      most = Math.max(most, present.length);
    }
    expect(most).toBeGreaterThan(2);
  },
);

test("words count marks where packets are marked, and only there", () => {
  const [marked, dropped] = [MARKING, scenario("drop_tail")].map((text) =>
    stripOf(watch(SAMPLED + text, 0, 6), subjectIn(SAMPLED + text)),
  );
  if (!marked || !dropped) throw new Error("no strips");
  const [first = 0] = marked.fates.markTimes;
  const together = marked.fates.markTimes.filter((time) => time === first).length;
  expect(momentText(marked, first - 1e-9)).toMatch(/ 0 marked so far$/);
  expect(momentText(marked, first).endsWith(` ${together} marked so far`)).toBe(true);
  expect(momentText(dropped, dropped.lengthS)).toMatch(/ dropped so far$/);
  expect(spanText(marked, "bottleneck")).toContain("the short ones marks");
  expect(spanText(dropped, "bottleneck")).not.toContain("short");
});

test("packets of drop tail wait no longer than its limit, and depart in order", () => {
  const fates = fatesOf(watch(scenario("drop_tail"), 0, 6), "drop_tail");
  // 20 packets that wait, and the rest of one that is sent.
  const longestS = (21 * 1500 * 8) / 10e6;
  let before = 0;
  for (let packet = 0; packet < fates.end.length; packet++) {
    const end = fates.end[packet] ?? 0;
    if (fates.isDropped[packet] === 1 || end === Infinity) continue;
    expect(end - (fates.arrival[packet] ?? 0)).toBeLessThanOrEqual(longestS * (1 + 1e-9));
    expect(end).toBeGreaterThan(before);
    before = end;
  }
});

test("a call whose packets all pass departs once per interval in the mean", () => {
  const watched = watch(scenario("fq_codel"), 1, 5);
  const voice = watched.names.flows.indexOf("voice");
  const times = departures(fatesOf(watched, "fq_codel"), new Set([voice]));
  // 64 kbit/s in packets of 200 bytes: one packet in 25 ms.
  expect(times.length).toBeGreaterThanOrEqual(158);
  expect(times.length).toBeLessThanOrEqual(162);
  expect(longestGap(times)).toBeGreaterThanOrEqual(0.025 - 1e-9);
});

test("a span of an unknown link, or outside of the run, is refused or empty", () => {
  let fault: unknown;
  try {
    new wasm.Packets(scenario("drop_tail"), "{}", undefined, FILES, "other", 0, 1);
  } catch (error) {
    fault = error;
  }
  expect(fault).toContain("there is no link other");
  expect(watch(scenario("drop_tail"), 8, 9).times.length).toBe(0);
  expect(watch(scenario("drop_tail"), Number.NaN, -1).times.length).toBe(0);
});

test("every packet finds room in the picture", () => {
  for (const most of [0, 1, 100, 5_000, 100_000, 3_000_000]) {
    const [side, rows] = layout(most, 300, 150);
    expect(Math.ceil(most / rows) * side).toBeLessThanOrEqual(301);
    expect(rows * side).toBeLessThanOrEqual(150);
  }
});
