import { expect, test } from "vitest";
import type { ModelInput, Summary } from "../src/engine/engine";
import type { DisciplineCurve } from "../src/frontier/disciplines";
import type { Reading } from "../src/scenario/reading";
import { parseToml } from "../src/scenario/text";
import { estimateAt, limitWhere } from "../src/study/curve";
import { COARSE, plan, spread } from "../src/study/plan";
import { GROUP, measure, metricOf } from "../src/study/point";
import { gradeOf } from "../src/verdict/grade";
import { othersOf, othersText } from "../src/verdict/instead";
import { alternativesText, surenessText } from "../src/verdict/sentence";
import { groupNames, whoOf } from "../src/verdict/who";
import { wasm } from "./engine_here";
import { POINTS, presetText, runs, SURE, WAIT } from "./points_here";

const FILES = new wasm.Files("{}");

test.each([
  // https://www.dslreports.com/faq/17930
  [0, "A+"],
  [0.00499, "A+"],
  [0.005, "A"],
  [0.02999, "A"],
  [0.03, "B"],
  [0.06, "C"],
  [0.19999, "C"],
  [0.2, "D"],
  [0.4, "F"],
])("a mean wait of %f s has grade %s", (delay, grade) => {
  expect(gradeOf(delay)).toBe(grade);
});

test("between two buffers a metric lies on the line over the logarithm of the buffer", () => {
  const between = estimateAt(POINTS, 100 * Math.SQRT1_2, "utilization");
  expect(between?.mean).toBeCloseTo(0.96, 12);
  expect(between?.isBetween).toBe(true);
  expect(estimateAt(POINTS, 100, "utilization")).toMatchObject({ count: 3, isBetween: false });
  for (const limit of [49, 201]) expect(estimateAt(POINTS, limit, "utilization")).toBeNull();
  expect(estimateAt(POINTS, 100, "jain")).toBeNull();
});

test("the buffer of a wait is that whose estimate is the wait", () => {
  const limit = limitWhere(POINTS, WAIT, 0.045) ?? Number.NaN;
  // The middle of 50 and 100 packets, over the logarithm.
  expect(limit).toBe(Math.round(Math.sqrt(50 * 100)));
  expect(limitWhere(POINTS, WAIT, 0.001)).toBe(50);
  expect(limitWhere(POINTS, WAIT, 9)).toBe(200);
  expect(limitWhere(new Map(), WAIT, 1)).toBeNull();
});

test("half and twice of a buffer are told with what they change, and doubts are named", () => {
  const evidence = { points: POINTS, utilization: "utilization", wait: WAIT };
  const text = alternativesText(evidence, 100).replaceAll("\u202f", " ");
  expect(text).toBe(
    "Half the buffer (50 packets): 4 percentage points less utilization and 30 ms less wait. " +
      "Twice the buffer (200 packets): the same utilization and 60 ms more wait.",
  );
  const doubtful = new Map(POINTS).set(50, runs(0.94, 0.03, [-0.05, 0, 0.05]));
  expect(alternativesText({ ...evidence, points: doubtful }, 100)).toContain("perhaps 4");
  expect(alternativesText({ ...evidence, points: new Map() }, 100)).toBe("");
});

test("how sure a verdict is follows from its runs", () => {
  const at = (limit: number): string =>
    surenessText(estimateAt(POINTS, limit, "utilization"), estimateAt(POINTS, limit, WAIT));
  expect(at(100)).toContain("Simulated: means of 3 runs");
  // Student: 4.302653 times 1e-4 over the root of 3 is 0.025 points, of 60 ms 0.015 ms.
  expect(at(100).replaceAll("\u202f", " ")).toContain("97.98 % to 98.02 %, wait 60 ms.");
  expect(at(70)).toContain("between the buffers that were tried");
  const [one] = runs(0.9, 0.1, [0]);
  const single = new Map([[7, new Map(one ? [one] : [])]]);
  expect(surenessText(estimateAt(single, 7, "utilization"), null)).toContain("one run");
});

test("of other disciplines the one with the shortest wait is named, if it is surely shorter", () => {
  const curve = (kind: string, wait: number, spreads: number[]): DisciplineCurve => ({
    kind,
    axis: { kind, key: "target", unit: "us" },
    usual: 5000,
    points: new Map([
      [5000, runs(0.95, wait, spreads)],
      [40_000, runs(0.99, 0.001, SURE)],
    ]),
    done: false,
  });
  const present = { kind: "drop_tail", points: POINTS, limit: 100 };
  const curves = [
    curve("codel", 0.03, SURE),
    curve("fq_codel", 0.002, SURE),
    // Sample standard deviation 0.4: 4.302653 times 0.4 ms over the root of 3 is 1 ms.
    curve("pie", 0.001, [-0.4, 0, 0.4]),
  ];
  const best = (some: DisciplineCurve[], now = present): string | null | undefined => {
    const others = othersOf(some, now, "voice");
    return others && others.best?.kind;
  };
  expect(best(curves.slice(0, 2))).toBe("fq_codel");
  expect(best(curves)).toBe("pie");
  const near = { ...present, points: new Map([[100, runs(0.98, 0.0019, SURE)]]) };
  expect(best(curves.slice(2), near), "0.9 ms less is within 1 ms").toBeUndefined();
  expect(best(curves, { ...present, points: new Map() }), "nothing to compare with").toBeNull();
  const half = curve("pie", 0.001, [0, 0]);
  expect(best([...curves, half]), "runs are missing").toBeNull();
  expect(best([...curves.slice(0, 1), { ...half, done: true }]), "runs failed").toBe("codel");
  const limited: DisciplineCurve = { ...curve("drop_tail", 0.001, SURE), usual: null };
  const own = { ...present, kind: "fq_codel" };
  expect(best([...curves.slice(0, 2), limited], own), "the own, and a limit").toBe("codel");
  const text = (some: DisciplineCurve[], now = present): string => {
    const others = othersOf(some, now, "voice");
    return others ? othersText(others, "voice").replaceAll("\u202f", " ") : "";
  };
  expect(text(curves.slice(0, 2))).toBe(
    "With fq_codel (a queue per flow, each held to a target delay) and its " +
      "usual target of 5 ms, 99 of 100 packets of voice wait at most 2 ms, " +
      "and the link is used to 95.0 % (means of 3 runs).",
  );
  expect(text([limited], own), "no other discipline fits the link").toBe("");
  expect(text(curves.slice(2), near)).toMatch(
    /^None of the other .*\(pie\) surely makes packets of voice wait less\.$/,
  );
});

test("the buffer in question, its half and its double get runs before the search begins", () => {
  const range = { smallest: 1, largest: 100 };
  const scan = spread(range, COARSE);
  const points = new Map(scan.map((limit) => [limit, runs(0.9, 0.1, [0])]));
  const { tasks } = plan(points, range, [], { also: [33, 17, 66], curve: null });
  expect(tasks.map(({ limit }) => limit)).toEqual([33, 17, 66]);
});

function readingOf(name: string): Reading {
  const text = presetText(name);
  const resolved = JSON.parse(wasm.resolve(text, "{}", undefined, FILES)) as { scenario: string };
  const input = JSON.parse(wasm.model_input(text, "{}", undefined, FILES)) as ModelInput;
  const scenario = parseToml(resolved.scenario) ?? {};
  return { text, scenario, resolved: resolved.scenario, hash: null, input };
}

test("a call next to downloads is watched unasked, and all packets where there is none", () => {
  for (const [name, chosen, who] of [
    ["home-router", null, "voice"],
    ["home-router", "web", "web"],
    ["home-router", "", ""],
    ["home-router", "nobody", "voice"],
    ["first", null, ""],
  ] as const) {
    const reading = readingOf(name);
    const [link] = reading.input.links;
    if (!link) throw new Error("no link");
    expect(whoOf(reading, link, chosen)).toBe(who);
  }
  expect(groupNames(readingOf("home-router"))).toEqual(["download", "web", "voice"]);
});

test("metrics of groups are those of the engine's summary, under the names of `tailroom size`", () => {
  const set = JSON.stringify({ duration: JSON.stringify("15 s") });
  const run = new wasm.Run(presetText("home-router"), set, undefined, FILES);
  while (run.advance(1000) < 1);
  const { summary } = JSON.parse(run.finish()) as { summary: Summary };
  const measured = measure(summary, "down");
  const { voice, web } = summary.groups;
  expect(measured["voice.queue_delay_s_p99"]).toBe(voice?.queue_delay_s_p99);
  expect(measured["voice.queue_delay_s_p99"]).toBeGreaterThan(0);
  expect(measured["web.all_sizes.completion_time_s_p95"]).toBe(
    web?.all_sizes?.completion_time_s_p95,
  );
  expect(measured["web.all_sizes.completion_time_s_p95"]).toBeGreaterThan(0);
  expect(measured["voice.all_sizes.completion_time_s_p95"]).toBeNull();
  expect(metricOf("", GROUP.delayP99)).toBe("delayP99S");
});
