import { expect, test } from "vitest";
import type { Answer, ModelInput, Resolved } from "../src/engine/engine";
import { PRESETS } from "../src/scenario/presets";
import { linkOf, type Reading } from "../src/scenario/reading";
import { placeOf, queueKey } from "../src/scenario/place";
import { parseToml } from "../src/scenario/text";
import { withLimit, type Bottleneck } from "../src/rules/bottleneck";
import {
  bdpText,
  limitText,
  limitTexts,
  limitToml,
  rangeIn,
  readLimit,
  within,
} from "../src/rules/buffer_units";
import { equivalents } from "../src/rules/other_tools";
import { Largest, largestLimit, limitAt, stepOf } from "../src/see/buffer_slider";
import { limitAxis, ownLimitAxis } from "../src/study/axis";
import { studyText } from "../src/study/study";
import { POOL } from "./browser/scenarios";
import { wasm } from "./engine_here";
import { presetText } from "./points_here";

const FILES = new wasm.Files("{}");
/** A loaded machine takes its time for all scenarios. */
const SLOW_MS = 600_000;

function readingOf(text: string): Reading {
  const { scenario } = JSON.parse(wasm.resolve(text, "{}", undefined, FILES)) as {
    scenario: string;
  };
  const input = JSON.parse(wasm.model_input(text, "{}", undefined, FILES)) as ModelInput;
  return { text, scenario: parseToml(scenario) ?? {}, resolved: scenario, hash: null, input };
}

function linkIn(text: string, name: string | null = null): Bottleneck {
  const link = linkOf(readingOf(text), name);
  if (!link) throw new Error("no link");
  return link;
}

const textOf = (link: Bottleneck): string =>
  limitTexts(link, link.buffer.steps).join(", ").replaceAll("\u202f", " ");

/** A link of 1.2 Mbit/s, 100 packets of 1500 B per second, with one bulk flow of 100 ms: 10 packets. */
const ONE_SIZE = (limit: string): string => `duration = "3 s"
[links.l]
rate = "1.2 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "${limit}" }
[flows.f]
path = ["l"]
congestion = "reno"
rtt = "100 ms"
`;
const TWO_SIZES = (limit: string): string => `${ONE_SIZE(limit)}
[flows.call]
path = ["l"]
packet_size = "200 B"
rtt = "100 ms"
source = { kind = "cbr", rate = "64 kbit/s" }
`;

test.each([
  ["20 packets", "20 packets, 30 kB, 200 ms, 2 BDP"],
  ["30 kB", "30 kB, 200 ms, 2 BDP, 20 packets"],
  ["200 ms", "200 ms, 30 kB, 2 BDP, 20 packets"],
  ["2 bdp", "2 BDP, 30 kB, 200 ms, 20 packets"],
])("a limit of %s is told in its own unit first: %s", (limit, told) => {
  expect(textOf(linkIn(ONE_SIZE(limit)))).toBe(told);
});

test("where packets differ in size, packets are never told as if they were bytes", () => {
  expect(textOf(linkIn(TWO_SIZES("20 packets")))).toBe(
    "20 packets, if each has 1,500 B: 30 kB, 200 ms, 2 BDP",
  );
  expect(textOf(linkIn(TWO_SIZES("30 kB")))).toBe("30 kB, 200 ms, 2 BDP, 20 packets of 1,500 B");
  expect(linkIn(presetText("dsl"), "up").packets_differ, "ACKs and a call").toBe(true);
});

test("a limit is read and written in its unit, exactly", () => {
  for (const [text, unit, steps, toml] of [
    ["166 packets", "packets", 166, '"166 packets"'],
    ["64 kB", "B", 64_000, '"64000 B"'],
    ["100 ms", "ns", 100_000_000, '"100 ms"'],
    ["0.25 bdp", "bdp", 250_000, '"0.25 bdp"'],
  ] as const) {
    const buffer = readLimit(text);
    expect(buffer).toEqual({ unit, steps });
    expect(buffer && limitToml(buffer)).toBe(toml);
  }
  for (const text of ["many", "64", "0 B", "0.5 packets"]) expect(readLimit(text)).toBeNull();
  expect(limitText("ns", Number.NaN)).toBe("no limit");
});

test("a limit of the slider replaces that of the link alone, and stays in its unit", () => {
  const link = linkIn(presetText("dsl"), "up");
  expect(link.buffer).toEqual({ unit: "B", steps: 64_000 });
  const moved = withLimit(link, 32_000);
  expect(moved.buffer).toEqual({ unit: "B", steps: 32_000 });
  const { amounts_packets: amounts, buffer } = link;
  expect({ ...moved, amounts_packets: amounts, buffer }).toEqual(link);
  expect(bdpText(link, 64_000)).toBe(bdpText(moved, 64_000));
});

test("values between two limits have three digits, but packets are whole", () => {
  expect(within(rangeIn("B", 1500, 300_000), 64_321)).toBe(64_300);
  expect(within(rangeIn("packets", 1, 3000), 1234.4)).toBe(1234);
  expect(within(rangeIn("ns", 15_384_616, 1e9), 15_384_616)).toBe(15_400_000);
  expect(within(rangeIn("ns", 15_444_444, 1e9), 15_444_444), "never below").toBe(15_444_444);
});

test("the slider reaches twice the limit of every shipped scenario, and does not move with it", () => {
  for (const { name, text } of PRESETS) {
    const reading = readingOf(text);
    const link = linkOf(reading, null);
    if (!link || !Number.isFinite(link.buffer.steps)) continue;
    const place = placeOf(reading.scenario, link.name);
    const largest = largestLimit(link, place, reading.scenario);
    const { steps } = link.buffer;
    expect(largest, name).toBeGreaterThanOrEqual(place.pool ? steps : 2 * steps);
    const remembered = new Largest();
    expect(remembered.of(reading, link, place)).toBe(largest);
    const most = withLimit(link, largest);
    expect(remembered.of(reading, most, place), name).toBe(largest);
    const range = rangeIn(link.buffer.unit, Math.min(1, largest), largest);
    expect(limitAt(stepOf(largest, range), range), name).toBe(largest);
  }
});

/** The same links and flows for as short a time as the scenario allows: some hundreds of packets. */
function cheap(text: string): string {
  const { input } = readingOf(text);
  const rate = Math.max(...input.links.map(({ capacity_pps: packets }) => packets));
  for (let durationS = 500 / rate; durationS < input.duration_s; durationS *= 3) {
    try {
      const set = JSON.stringify({ duration: `"${durationS} s"`, measure_from: '"0 s"' });
      const resolved = JSON.parse(wasm.resolve(text, set, 7n, FILES)) as Resolved;
      return resolved.scenario;
    } catch {
      // Something begins later than this.
    }
  }
  return text;
}

function summaryOf(text: string): string {
  const run = new wasm.Run(text, "{}", undefined, FILES);
  while (run.advance(1000) < 1);
  const { summary } = JSON.parse(run.finish()) as Answer;
  return JSON.stringify(summary);
}

test(
  "the study at a scenario's own buffer is the run of the scenario, for every shipped scenario",
  () => {
    const units = new Map<string, number>();
    for (const { name, text } of PRESETS) {
      const short = cheap(text);
      const reading = readingOf(short);
      const link = linkOf(reading, null);
      if (!link || !Number.isFinite(link.buffer.steps)) continue;
      const place = placeOf(reading.scenario, link.name);
      const { unit, steps } = link.buffer;
      units.set(unit, 1 + (units.get(unit) ?? 0));
      const subject = { text: short, queue: queueKey(place), axis: ownLimitAxis(link) };
      // Also the limit in packets and in bytes is in the summary, and no run needs to reach it.
      const summary = summaryOf(short);
      expect(summaryOf(studyText(subject, steps)), name).toBe(summary);
      if (unit === "packets" || link.discipline !== "drop_tail") continue;
      const { links } = JSON.parse(summary) as { links: Record<string, { limit_bytes: number }> };
      expect(equivalents(link)[0]?.text, name).toMatch(
        new RegExp(`limit ${links[link.name]?.limit_bytes}\\b`),
      );
    }
    const dsl = cheap(presetText("dsl"));
    const inPackets = { text: dsl, queue: ["links", "up", "queue"], axis: limitAxis("packets") };
    expect(summaryOf(studyText(inPackets, 42)), "42 packets are not 64 kB").not.toBe(
      summaryOf(dsl),
    );
    // The shipped scenarios write limits in every unit.
    expect([...units.keys()].sort()).toEqual(["B", "bdp", "ns", "packets"]);
    expect([...units.values()].reduce((sum, one) => sum + one, 0)).toBeGreaterThan(50);
  },
  SLOW_MS,
);

test("a limit in bdp is one buffer, whatever RTTs other seeds draw", () => {
  const text = ONE_SIZE("2 bdp").replace('"100 ms"', '{ uniform = ["50 ms", "150 ms"] }');
  const link = linkIn(text);
  expect(link.buffer.unit).toBe("bdp");
  const subject = { text, queue: ["links", "l", "queue"], axis: ownLimitAxis(link) };
  const study = studyText(subject, link.buffer.steps);
  const bytes = [1, 2, 3].map((seed) => linkIn(`seed = ${seed}\n${study}`).buffer);
  expect(new Set(bytes.map(({ unit, steps }) => `${steps} ${unit}`)).size).toBe(1);
  expect(bytes[0]?.steps).toBeCloseTo(2 * link.bdp_packets * 1500, -1);
});

test("the limit of a pool's queue is the memory of the pool, in bytes", () => {
  const { buffer } = linkIn(POOL);
  expect(buffer).toEqual({ unit: "B", steps: 400_000 });
});
