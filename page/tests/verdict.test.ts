import { expect, test } from "vitest";
import type { ModelInput, Question, Summary } from "../src/engine/engine";
import type { Engine } from "../src/engine/pool";
import type { DisciplineCurve } from "../src/frontier/disciplines";
import type { Reading } from "../src/scenario/reading";
import { parseToml } from "../src/scenario/text";
import { estimateAt, limitWhere } from "../src/study/curve";
import { COARSE, plan, spread } from "../src/study/plan";
import { Paired, pairedDifference } from "../src/study/paired_runs";
import { GROUP, measure, metricOf, type Measured, type Point } from "../src/study/point";
import { gradeAt, gradeOf } from "../src/verdict/grade";
import { othersOf, othersText, priceOf, priceText } from "../src/verdict/instead";
import { alternativesText, surenessText, type Neighbour } from "../src/verdict/sentence";
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
])("a wait of %f s has grade %s", (delay, grade) => {
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

/** Half and twice of 100 packets; the runs of a seed share what the seed brings. */
function neighbours(noise: number[], half = 0.94, twice = 0.9801): Neighbour[] {
  return [
    { name: "Half the buffer", amount: "50 packets", point: runs(half, 0.03, noise) },
    { name: "Twice the buffer", amount: "200 packets", point: runs(twice, 0.12, noise) },
  ];
}

const told = (own: Point, neighbours: Neighbour[]): string =>
  alternativesText(
    { own, utilization: "utilization", wait: null },
    neighbours,
    "Twice the buffer",
  ).replaceAll("\u202f", " ");

test("what half and twice change is the mean of differences with common seeds", () => {
  // Seeds that change the utilization by 5 points hide no difference of 4 points.
  const noise = [-0.05, 0, 0.05];
  expect(told(runs(0.98, 0.06, noise), neighbours(noise))).toBe(
    "Half the buffer (50 packets): 4 percentage points less utilization. " +
      "Twice the buffer (200 packets): the same utilization.",
  );
  // Differences of -4.1, -4 and -3.9 points: 4.302653 times 0.1 over the root of 3 is 0.25.
  const own = runs(0.98, 0.06, [0.001, 0, -0.001]);
  expect(told(own, neighbours([0, 0, 0]))).toMatch(/^Half .*: 4 ± 0.25 percentage points less/);
  expect(told(own, neighbours([0, 0, 0], 0.9795))).toMatch(
    /: perhaps 0.05 ± 0.25 percentage points less/,
  );
  const wait = alternativesText(
    { own, utilization: "utilization", wait: WAIT },
    neighbours(noise),
    "",
  );
  expect(wait.replaceAll("\u202f", " ")).toMatch(
    /and 30 ms ± .* less wait\. Twice .* 60 ms ± .* more wait\.$/,
  );
  expect(told(own, neighbours([0])), "a difference of one run").toBe("");
});

test("a limit that is never reached is told as such, and makes no difference", () => {
  const own = runs(0.98, 0.06, [-0.05, 0, 0.05]);
  const same = (name: string, amount: string): Neighbour => ({ name, amount, point: new Map(own) });
  const both = [same("Half the buffer", "50 packets"), same("Twice the buffer", "200 packets")];
  expect(told(own, both)).toBe(
    "Half the buffer (50 packets) and twice the buffer (200 packets) give the same results, run by run: " +
      "the limit is never reached.",
  );
  const [half] = neighbours([-0.05, 0, 0.05]);
  expect(
    told(
      own,
      [half, both[1]].filter((one) => one !== undefined),
    ),
  ).toBe(
    "Half the buffer (50 packets): 4 percentage points less utilization. " +
      "Twice the buffer (200 packets) gives the same results, run by run: the limit is never reached.",
  );
});

test("the number that is shown is graded, and none in a data centre", () => {
  const linkIn = (name: string): ModelInput["links"][number] => {
    const [link] = readingOf(name).input.links;
    if (!link) throw new Error("no link");
    return link;
  };
  const home = linkIn("home-router");
  expect(gradeAt(home, 0.0972)).toBe("C");
  expect(gradeAt(home, null)).toBe("");
  expect(gradeAt(linkIn("data-center"), 0.0001)).toBe("");
});

test("a proposal names gains and losses per group, by runs with common seeds", () => {
  const run = (used: number, voice: number, web: number, complete: number): Measured => ({
    utilization: used,
    "voice.queue_delay_s_p99": voice,
    "web.queue_delay_s_p99": web,
    "web.all_sizes.completion_time_s_p95": complete,
    "web.loss_fraction": 0.01,
    "bulk.goodput_bps": 1e7 * used,
  });
  const point = (by: (seed: number) => Measured): Point =>
    new Map([0, 1, 2].map((seed) => [seed, by(seed)]));
  const own = point((seed) => run(0.9 + 0.03 * seed, 0.1, 0.1, 0.9 + 0.2 * seed));
  const other = point((seed) => run(0.6 + 0.03 * seed, 0.04, 0.13, 0.4 + 0.2 * seed));
  const price = priceOf(own, other, ["bulk", "web", "voice"]);
  expect(price?.runs).toBe(3);
  const instead = {
    kind: "x",
    axis: { kind: "x", key: "target", unit: "us" as const },
    value: 5000,
  };
  expect(price && priceText(instead, price).replaceAll("\u202f", " ")).toMatch(
    /^Gained with x .*: web: 95 % complete 500 ms ?.* sooner; voice: 60 ms ?.* less wait\. Lost: 30 ?.* percentage points less utilization; bulk: 32\.3 % less goodput; web: 30 ms ?.* more wait\./,
  );
  const two = new Map([...other].slice(0, 2));
  expect(priceOf(own, two, ["web"]), "too few runs").toBeNull();
});

test("settings next to the present one run with its seeds, and each of them once", async () => {
  const asked: Question[] = [];
  const summary = { links: {}, groups: {}, flows: [] };
  const engine = {
    run: (question: Question) => {
      asked.push(question);
      return question.text === "refused"
        ? Promise.reject(new Error("refused"))
        : Promise.resolve({ summary });
    },
  };
  const paired = new Paired(engine as unknown as Engine, () => undefined);
  const subject = {
    link: "l",
    text: "now",
    seedOf: (seed: number) => BigInt(100 + seed),
    texts: new Map([
      ["half", "a"],
      ["twice", "b"],
      ["best", "refused"],
    ]),
  };
  const own = runs(0.9, 0.1, [0, 0]);
  paired.about(subject, own);
  expect(asked).toEqual([]);
  paired.go(60_000);
  await expect.poll(() => paired.pointOf("twice").size).toBe(2);
  const more = runs(0.9, 0.1, [0, 0, 0]);
  await expect
    .poll(() => {
      paired.about(subject, more);
      return paired.pointOf("half").size;
    })
    .toBe(3);
  const seedsOf = (text: string): (bigint | null)[] =>
    asked.filter((one) => one.text === text).map(({ seed }) => seed);
  expect(seedsOf("a")).toEqual([100n, 101n, 102n]);
  expect(seedsOf("b")).toEqual([100n, 101n, 102n]);
  expect(seedsOf("refused").length).toBeLessThanOrEqual(2);
  expect(pairedDifference(own, more, "utilization")).toMatchObject({ mean: 0, count: 2 });
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
    fit: { madeForS: 0.1, rttS: 0.04 },
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
  expect(text([limited], own), "no other discipline fits the link").toBe("");
  const far = curves.map((one) => ({ ...one, fit: { madeForS: 0.1, rttS: 0.6 } }));
  expect(best(far), "made for shorter round trips").toBeUndefined();
  expect(text(far)).toBe(
    "Not proposed here: codel, fq_codel, pie, whose usual parameters are made for round trips of up to " +
      "100 ms; those of this link take 600 ms.",
  );
  expect(text(curves.slice(2), near)).toMatch(
    /^None of the other .*\(pie\) surely makes packets of voice wait less\.$/,
  );
});

test("the buffer in question gets its runs before the others", () => {
  const range = { smallest: 1, largest: 100 };
  const first = plan(new Map(), range, [], { also: [33], curve: null });
  expect(first.tasks).toEqual([{ limit: 33, seed: 0 }]);
  const points = new Map([[33, runs(0.9, 0.1, [0, 0, 0])]]);
  const { tasks } = plan(points, range, [], { also: [33], curve: null });
  expect(tasks.map(({ limit }) => limit)).toEqual(spread(range, COARSE));
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
