import { expect, test } from "vitest";
import type { Component, ModelInput, Question } from "../src/engine/engine";
import type { Engine } from "../src/engine/pool";
import { bindingsOf } from "../src/frontier/binding";
import { costOf } from "../src/frontier/cost";
import { Disciplines, type Asked } from "../src/frontier/disciplines";
import {
  choicesOf,
  frontierPicture,
  hasUnseen,
  spotAt,
  type FrontierAsked,
} from "../src/frontier/frontier_picture";
import { madeForS, usualOf } from "../src/frontier/usual";
import { wordsOn } from "../src/scenario/discipline_words";
import { placeOf, queueKey } from "../src/scenario/place";
import { linkOf } from "../src/scenario/reading";
import { parseToml, setKey, type Table } from "../src/scenario/text";
import { largestLimit } from "../src/see/buffer_slider";
import { NO_TARGETS } from "../src/state";
import { areApart, isWide, toldApart } from "../src/study/apart";
import { limitAxis, ownLimitAxis, valueText, withValue, type Axis } from "../src/study/axis";
import { curvePlan } from "../src/study/curve_plan";
import { COARSE, MOST_SEEDS, spread } from "../src/study/plan";
import type { Measured, Point } from "../src/study/point";
import { POOL } from "./browser/scenarios";
import { wasm } from "./engine_here";
import { POINTS, presetText, runs, SURE, WAIT } from "./points_here";

const FILES = new wasm.Files("{}");
const QUEUES = (JSON.parse(wasm.components()) as { queue: Component[] }).queue;
const USUAL = usualOf(QUEUES);
const TARGET: Axis = { kind: "codel", key: "target", unit: "us" };

interface Read {
  text: string;
  scenario: Table;
  input: ModelInput;
}

function read(text: string): Read {
  const { scenario } = JSON.parse(wasm.resolve(text, "{}", undefined, FILES)) as {
    scenario: string;
  };
  const input = JSON.parse(wasm.model_input(text, "{}", undefined, FILES)) as ModelInput;
  return { text, scenario: parseToml(scenario) ?? {}, input };
}

/** What the page asks of a scenario's link. */
function askedOf(text: string, name: string | null = null): Asked {
  const { scenario, input } = read(text);
  const link = linkOf({ text, scenario, resolved: "", hash: null, input }, name);
  if (!link) throw new Error("no link");
  const place = placeOf(scenario, link.name);
  const largest = largestLimit(link, place, scenario);
  const subject = {
    text,
    link: link.name,
    queue: queueKey(place),
    largest,
    axis: ownLimitAxis(link),
    seed: 1n,
  };
  return { subject, link, place, scenario, metrics: ["utilization", "delayP99S"] };
}

/** The axes of the present queue: the key, and its first and last value. */
function boundsOf(text: string): [key: string, first: string, last: string][] {
  const { scenario, link, place } = askedOf(text);
  return bindingsOf(scenario, link, place, USUAL).map(({ axis, values }) => [
    axis.key,
    valueText(axis, values[0] ?? 0).replaceAll("\u202f", " "),
    valueText(axis, values.at(-1) ?? 0).replaceAll("\u202f", " "),
  ]);
}

const withQueue = (name: string, link: string, queue: string): string =>
  setKey(presetText(name), ["links", link, "queue"], queue);

test.each([
  ["a limit", presetText("home-router"), []],
  // Below the limits of 500 packets and 100 kB, 66.7 packets: see the engine's refusals.
  ["DCTCP's threshold", presetText("data-center"), [["threshold", "1 packet", "499 packets"]]],
  ["that of every port", presetText("leaf"), [["threshold", "1 packet", "499 packets"]]],
  ["that of shallow ports", presetText("incast"), [["threshold", "1 packet", "66 packets"]]],
  // Kmax is 200 kB, 184.8 packets of 1082 B.
  ["Kmin", presetText("rdma"), [["k_min", "1 packet", "184 packets"]]],
  [
    "RED's lower threshold",
    withQueue("home-router", "down", '{ kind = "red", limit = "500 packets" }'),
    [["min_threshold", "1 packet", "499 packets"]],
  ],
  [
    "a target delay",
    withQueue("home-router", "down", '"fq_codel"'),
    // An eighth of RFC 8290's 5 ms to eight times.
    [["target", "625 µs", "40 ms"]],
  ],
  [
    "DualPI2 without L4S flows",
    withQueue("home-router", "down", '"dual_pi2"'),
    [["target", "1.88 ms", "120 ms"]],
  ],
  [
    "DualPI2 with an L4S flow",
    withQueue("home-router", "down", '"dual_pi2"').replace(
      "[flows.download]",
      '[flows.download]\necn = "l4s"',
    ),
    // RFC 9332's 800 us.
    [["l4s_threshold", "100 µs", "6.4 ms"]],
  ],
  [
    "a step without flows that respond, which lets them pass",
    withQueue(
      "home-router",
      "down",
      '{ kind = "step_mark", limit = "50 packets", threshold = "9 packets", drop_others = false }',
    ),
    [],
  ],
  ["an alpha", POOL, [["alpha", "1/128", "64"]]],
  [
    "a threshold and an alpha",
    POOL.replaceAll('{ kind = "drop_tail" }', '{ kind = "step_mark", threshold = "9 packets" }'),
    [
      // 400 kB are 266.7 packets.
      ["threshold", "1 packet", "266 packets"],
      ["alpha", "1/128", "64"],
    ],
  ],
  ["a pool without alpha", POOL.replace(/policy = .*/, 'policy = "complete_sharing"'), []],
])("%s binds", (_, text, expected) => {
  expect(boundsOf(text)).toEqual(expected);
});

/** Every value of every curve as the scenario of a run. */
async function textsOf(text: string, kinds: string[]): Promise<string[]> {
  const asked: Question[] = [];
  const { queue } = JSON.parse(wasm.components()) as { queue: Component[] };
  const engine = {
    components: { queue },
    run: (question: Question) => {
      asked.push(question);
      return Promise.reject(new Error("no run"));
    },
  };
  const disciplines = new Disciplines(engine as unknown as Engine, () => undefined);
  disciplines.about(askedOf(text));
  expect(disciplines.curves.map(({ kind, axis }) => `${kind}.${axis.key}`)).toEqual(kinds);
  disciplines.go(1);
  await expect.poll(() => disciplines.curves.every(({ done }) => done)).toBe(true);
  disciplines.go(60_000);
  return asked.map((one) => one.text);
}

test.each([
  ["home-router", presetText("home-router"), ["pie.target", "codel.target", "fq_codel.target"]],
  [
    "home-router with CoDel",
    withQueue("home-router", "down", '"codel"'),
    ["codel.target", "drop_tail.limit", "pie.target", "fq_codel.target"],
  ],
  // Targets of the Internet exceed the round trips of a data centre.
  ["data-center", presetText("data-center"), ["step_mark.threshold", "drop_tail.limit"]],
  ["incast", presetText("incast"), ["step_mark.threshold", "drop_tail.limit"]],
  [
    "data-center with drop-tail",
    withQueue("data-center", "port", '{ kind = "drop_tail", limit = "500 packets" }'),
    ["step_mark.threshold"],
  ],
  ["pool", POOL, ["drop_tail.alpha", "pie.target", "codel.target", "fq_codel.target"]],
])("the curves of %s are over values that the engine accepts", async (_, text, kinds) => {
  const texts = new Set(await textsOf(text, kinds));
  // Ends, quarters and the middle, of each curve.
  expect(texts.size).toBe(5 * kinds.length);
  for (const one of texts) wasm.resolve(one, "{}", undefined, FILES);
});

test("only usual targets are tried where no picture is shown, and no other in long runs", async () => {
  const asked: Question[] = [];
  const { queue } = JSON.parse(wasm.components()) as { queue: Component[] };
  const engine = {
    components: { queue },
    run: (question: Question) => {
      asked.push(question);
      return Promise.reject(new Error("no run"));
    },
  };
  const disciplines = new Disciplines(engine as unknown as Engine, () => undefined);
  disciplines.about(askedOf(presetText("home-router")));
  disciplines.go(60_000, false);
  expect(disciplines.isLong).toBe(true);
  disciplines.go(1, false);
  await expect.poll(() => asked.length).toBe(3);
  // RFC 8033 sec. 4.2, RFC 8289 sec. 4.2, RFC 8290 sec. 5.2.2.
  const expected = { pie: "15000 us", codel: "5000 us", fq_codel: "5000 us" };
  for (const [kind, target] of Object.entries(expected)) {
    const queues = asked.map(({ text }) => read(text).scenario["links"] as Table);
    const found = queues.map(({ down }) => (down as Table)["queue"] as Table);
    expect(found.find((one) => one["kind"] === kind)?.["target"]).toBe(
      target.replace("000 us", " ms"),
    );
  }
});

test("usual values are the engine's defaults, and disciplines are made for round trips up to CoDel's interval", () => {
  // RFC 8033 sec. 4.2, RFC 8289 sec. 4.2 and 4.3, RFC 8290 sec. 5.2, RFC 9332 sec. 2.
  expect(USUAL("pie", "target")).toBe(15_000);
  expect(USUAL("codel", "target")).toBe(5_000);
  expect(USUAL("dual_pi2", "l4s_threshold")).toBe(800);
  expect(USUAL("drop_tail", "target")).toBeNull();
  for (const kind of ["pie", "codel", "fq_codel"]) expect(madeForS(USUAL, kind)).toBe(0.1);
});

test("a value of an axis is set in place, and read by the engine", () => {
  const set = (text: string, axis: Axis, value: number): ModelInput["links"][number] => {
    const { subject, link } = askedOf(text);
    const { input } = read(withValue(text, subject.queue, axis, value));
    return input.links.find(({ name }) => name === link.name) ?? link;
  };
  const threshold: Axis = { kind: null, key: "threshold", unit: "packets" };
  for (const name of ["data-center", "leaf", "incast"]) {
    const { amounts_packets: amounts } = set(presetText(name), threshold, 7);
    expect(amounts, name).toEqual({
      ...askedOf(presetText(name)).link.amounts_packets,
      threshold: 7,
    });
  }
  const { scenario, place, link } = askedOf(POOL);
  const [binding] = bindingsOf(scenario, link, place, USUAL);
  if (!binding) throw new Error("no binding");
  const changed = read(withValue(POOL, queueKey(place), binding.axis, 32)).scenario;
  expect(((changed["pools"] as Table)["asic"] as Table)["policy"]).toMatchObject({ alpha: 0.25 });
  // A link may have an alpha of its own.
  const own = POOL.replace("[links.port0]", "[links.port0]\nalpha = 2");
  const ownAsked = askedOf(own, "port0");
  const [first] = bindingsOf(ownAsked.scenario, ownAsked.link, ownAsked.place, USUAL);
  expect(first?.axis.table).toEqual(["links", "port0"]);
});

test("every discipline of the engine has words of a sentence's length", () => {
  const { queue } = JSON.parse(wasm.components()) as { queue: Component[] };
  for (const { kind } of queue) {
    expect(wordsOn(kind).length, kind).toBeGreaterThan(10);
    expect(wordsOn(kind).length, kind).toBeLessThanOrEqual(80);
  }
});

test("two values are apart if a metric differs by more than both intervals", () => {
  // The half-width of three values with a standard deviation s is 4.302653 s over the root of 3.
  const spread = 0.01;
  const both = (Math.SQRT2 * (4.302653 * spread)) / Math.sqrt(3);
  const at = (utilization: number): Point => runs(utilization, 0.05, [-spread, 0, spread]);
  const differ = (by: number, factor?: number): boolean =>
    areApart(at(0.5), at(0.5 + by), ["utilization"], factor);
  expect(differ(1.01 * both)).toBe(true);
  expect(differ(0.99 * both)).toBe(false);
  expect(differ(1.99 * both, 2)).toBe(false);
  expect(differ(2.01 * both, 2)).toBe(true);
  expect(areApart(at(0.5), at(0.9), [WAIT]), "of another metric").toBe(false);
  expect(areApart(at(0.5), runs(0.9, 0.05, [0]), ["utilization"]), "one run").toBe(false);
  const exact = (utilization: number, wait: number): Point => runs(utilization, wait, [0, 0, 0]);
  expect(areApart(exact(0.9, 0.05), exact(0.9004, 0.0504), ["utilization", WAIT])).toBe(false);
  expect(areApart(exact(0.9, 0.05), exact(0.9006, 0.05), ["utilization"])).toBe(true);
  expect(areApart(exact(0.9, 0.05), exact(0.9, 0.0506), [WAIT])).toBe(true);
});

test("values that cannot be told apart are left out, but never the usual one", () => {
  const noisy = [-0.03, 0, 0.03];
  const points = new Map(
    [0.9, 0.905, 0.91, 0.95, 0.99].map((used, at) => [
      at + 1,
      runs(used, 0.05, at < 3 ? noisy : SURE),
    ]),
  );
  const shown = (usual: number | null): number[] => toldApart(points, ["utilization"], usual);
  // The half-widths of the first three are 0.0745, of the others nearly nothing.
  expect(shown(null)).toEqual([1, 5]);
  expect(shown(3)).toEqual([3, 5]);
  expect(shown(4)).toEqual([4, 5]);
  expect(toldApart(new Map([[1, runs(0.9, 0.1, [0])]]), ["utilization"], null)).toEqual([1]);
});

test("an interval is wide if half of it reaches beyond a neighbour", () => {
  const sure = (used: number): Point => runs(used, 0.05, SURE);
  // Half-width 0.0497.
  const noisy = runs(0.9, 0.05, [-0.02, 0, 0.02]);
  expect(isWide(noisy, [sure(0.84), sure(0.94)], ["utilization"])).toBe(true);
  expect(isWide(noisy, [sure(0.84), sure(0.96)], ["utilization"])).toBe(false);
  expect(isWide(sure(0.9), [sure(0.9)], ["utilization"]), "0.025 points wide").toBe(false);
});

/** Performs what a curve asks for, until it asks for nothing. */
function drawn(
  measure: (value: number, seed: number) => Measured,
  values: number[],
): Map<number, Point> {
  const points = new Map<number, Point>();
  for (;;) {
    const tasks = curvePlan(points, [values[4] ?? 0], { values, metrics: ["utilization", WAIT] });
    if (tasks.length === 0) return points;
    for (const { limit, seed } of tasks) {
      const point = points.get(limit) ?? new Map<number, Measured>();
      expect(point.has(seed)).toBe(false);
      points.set(limit, point.set(seed, measure(limit, seed)));
    }
  }
}

test("a curve gets seeds where values cannot be told apart, and values where they can", () => {
  const values = spread({ smallest: 625, largest: 40_000 }, COARSE);
  const [first = 0] = values;
  const quiet = drawn((us, seed) => ({ utilization: 0.9, [WAIT]: us * (1 + 1e-4 * seed) }), values);
  expect([...quiet.keys()].sort((a, b) => a - b)).toEqual(values);
  expect([...quiet.values()].every((point) => point.size === 3)).toBe(true);
  // Nothing depends on the value: five values, as many seeds as a study gives, one point.
  const noise = (seed: number): number => [0, 0.1, -0.1, 0.05, -0.05, 0.02, -0.02, 0][seed] ?? 0;
  const same = drawn((_, seed) => ({ utilization: 0.9, [WAIT]: 0.05 * (1 + noise(seed)) }), values);
  expect(same.size).toBe(5);
  expect([...same.values()].every((point) => point.size === MOST_SEEDS)).toBe(true);
  expect(toldApart(same, ["utilization", WAIT], first)).toEqual([first]);
});

const asked = (some: Partial<FrontierAsked>): FrontierAsked => ({
  curves: [],
  who: "voice",
  cost: costOf(askedOf(presetText("home-router")).link, "voice"),
  now: null,
  answer: null,
  targets: NO_TARGETS,
  ...some,
});

test("targets that are on no axis of the frontier are told from those of its corner", () => {
  const wait = { [WAIT]: 0.01 };
  const { cost } = asked({});
  for (const [targets, who, unseen] of [
    [{ utilization: 0.98 }, "voice", false],
    [{ delayS: 0.01 }, "", false],
    [{ delayS: 0.01 }, "voice", true],
    [{ groups: wait }, "voice", false],
    [{ groups: wait }, "web", true],
    [{ loss: 0.01 }, "voice", true],
  ] as const) {
    expect(hasUnseen({ ...NO_TARGETS, ...targets }, who, cost), JSON.stringify(targets)).toBe(
      unseen,
    );
  }
});

test("flows that arrive whatever the queue does pay in time, and others in capacity", () => {
  const of = (name: string, who = ""): string => costOf(askedOf(presetText(name)).link, who).metric;
  expect(of("home-router", "web")).toBe("utilization");
  expect(of("data-center")).toBe("utilization");
  // Each query follows the answer to the one before.
  expect(of("incast")).toBe("utilization");
  // Of two groups, "in" offers four times as much.
  expect(of("leaf")).toBe("in.all_sizes.completion_time_s_p95");
  expect(of("leaf", "inside")).toBe("inside.all_sizes.completion_time_s_p95");
  const time = costOf(askedOf(presetText("leaf")).link, "");
  expect(time.of(0.012)).toBe(12);
  const targets = { ...NO_TARGETS, utilization: 0.5, groups: { [time.metric]: 0.02 } };
  expect(hasUnseen(targets, "", time)).toBe(true);
  const { shades } = frontierPicture(asked({ cost: time, who: "", targets }));
  expect(shades.map(({ to }) => to)).toEqual([20]);
});

test("the frontier draws every point by its wait, and the corner that meets the targets", () => {
  const one = {
    kind: "drop_tail",
    axis: limitAxis("packets"),
    usual: null,
    points: POINTS,
    done: true,
  };
  const curves = [
    one,
    { ...one, kind: "codel", axis: TARGET, points: new Map([[5000, runs(1, 0.01, [0])]]) },
  ];
  const targets = { ...NO_TARGETS, utilization: 0.95, groups: { [WAIT]: 0.08 } };
  const { cost } = asked({});
  const now = spotAt(cost, 0.98, 0.06);
  const picture = frontierPicture(asked({ curves, now, targets }));
  const rounded = (values: (number | null)[] | undefined): (number | null)[] =>
    (values ?? []).map((value) => value && Number(value.toFixed(6)));
  expect(rounded(picture.xs)).toEqual([10, 30, 60, 60, 120]);
  const [tail, codel, present] = picture.lines;
  expect(rounded(tail?.y).filter((value) => value !== null)).toEqual([0.06, 0.02, 0.0199]);
  expect(tail?.label).toBe("drop_tail: buffer");
  // A full link stands at the lower end of the logarithmic axis, and one run has no interval.
  expect(rounded(codel?.y)).toEqual([0.0001, null, null, null, null]);
  expect(codel?.bars?.every((bar) => bar === null)).toBe(true);
  expect(present?.y.filter((value) => value !== null)).toHaveLength(1);
  // Three values around 0.98 with a standard deviation of 1e-4.
  const bar = tail?.bars?.find((_, at) => rounded(picture.xs)[at] === 60 && tail.bars?.[at]);
  const half = (4.302653 * 1e-4) / Math.sqrt(3);
  expect(bar?.y[0]).toBeCloseTo(0.02 - half, 8);
  expect(bar?.y[1]).toBeCloseTo(0.02 + half, 8);
  expect(bar?.x[0]).toBeCloseTo(60 * (1 - half), 5);
  const [corner] = picture.shades;
  expect(corner?.kind).toBe("meets");
  expect(corner?.to).toBeCloseTo(0.05, 12);
  expect(corner?.across?.[1]).toBeCloseTo(80, 9);
  expect(choicesOf(asked({ curves })).map(({ value }) => value)).toEqual([50, 100, 200, 5000]);
  expect(spotAt(cost, 0.9, 0)).toBeNull();
});

test("a curve joins its points in the order of their values, also where it turns back", () => {
  const points = new Map([
    [1, runs(0.9, 0.02, SURE)],
    [2, runs(0.95, 0.04, SURE)],
    [3, runs(0.99, 0.03, SURE)],
  ]);
  const curve = { kind: "codel", axis: TARGET, usual: null, points, done: true };
  const { xs, lines } = frontierPicture(asked({ curves: [curve] }));
  const waits = (lines[0]?.route ?? []).map((at) => Math.round(xs[at] ?? 0));
  expect(waits).toEqual([20, 40, 30]);
});
