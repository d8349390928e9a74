import { expect, test } from "vitest";
import { ScenarioFault, type Question, type Resolved } from "../src/engine/engine";
import type { Engine } from "../src/engine/pool";
import { answerOf, answerText, smallest, targetsOf, verdictOf } from "../src/study/answer";
import { limitAxis } from "../src/study/axis";
import { COARSE, FINE, MOST_SEEDS, plan, spread } from "../src/study/plan";
import { AT_MOST, type Measured, type Point } from "../src/study/point";
import { PRECISION, searchStep, type SearchStep } from "../src/study/search";
import { smallestAccepted } from "../src/study/smallest_accepted";
import { Study } from "../src/study/study";
import { NO_TARGETS } from "../src/state";
import { jainIndex, meanInterval } from "../src/study/statistics";
import "./engine_here";

const RANGE = { smallest: 1, largest: 5000 };
const NONE = NO_TARGETS;

function measured(utilization: number): Measured {
  return { utilization, delayMeanS: 0.01, delayP99S: 0.02, loss: 1e-3, jain: 0.9 };
}

function point(...utilizations: number[]): Point {
  return new Map(utilizations.map((value, seed) => [seed, measured(value)]));
}

test("an interval is Student's", () => {
  const interval = meanInterval([1, 2, 3, 4]);
  expect(interval?.mean).toBe(2.5);
  expect(interval?.halfWidth).toBeCloseTo(3.182446305284 * Math.sqrt(5 / 3 / 4), 12);
  const many = Array.from({ length: 32 }, (_, at) => at % 2);
  // The quantile of 31 degrees of freedom is 2.039513.
  expect(meanInterval(many)?.halfWidth).toBeCloseTo(2.039513446 * Math.sqrt(8 / 31 / 32), 8);
  expect(meanInterval([7])?.halfWidth).toBe(Infinity);
  expect(meanInterval([0.1, 0.1, 0.1])?.halfWidth).toBe(0);
  expect(meanInterval([])).toBeNull();
});

test("Jain's index is 1 for equal rates", () => {
  expect(jainIndex([5, 5, 5])).toBeCloseTo(1, 12);
  expect(jainIndex([1, 0, 0, 0])).toBe(0.25);
  expect(jainIndex([0, 0])).toBeNull();
});

test("one run decides nothing", () => {
  const [target] = targetsOf({ ...NONE, utilization: 0.9 });
  if (!target) throw new Error("no target");
  expect(verdictOf(point(0.99), target)).toBe("undecided");
  expect(verdictOf(point(0.99, 0.99, 0.98), target)).toBe("meets");
  expect(verdictOf(point(0.5, 0.51, 0.5), target)).toBe("misses");
  expect(verdictOf(point(0.5, 0.99, 0.8), target)).toBe("undecided");
});

test("the answer is the smallest buffer that surely meets the targets", () => {
  const points = new Map([
    [1, point(0.5, 0.5, 0.5)],
    [10, point(0.85, 0.99, 0.88)],
    [100, point(0.95, 0.95, 0.96)],
    [1000, point(1, 1, 1)],
  ]);
  const answer = smallest(points, targetsOf({ ...NONE, utilization: 0.9 }));
  expect(answer).toEqual({ limit: 100, verdict: "meets", tooSmall: 1, interval: null });
  const none = smallest(points, targetsOf({ ...NONE, delayS: 0.001 }));
  expect(none).toEqual({ limit: null, verdict: "misses", tooSmall: 1000, interval: null });
});

/** Performs what a study asks for, until it asks for nothing. */
function studied(
  targets: ReturnType<typeof targetsOf>,
  measure: (limit: number, seed: number) => number,
): { points: Map<number, Point>; stages: number[]; search: SearchStep | null; runs: number } {
  const points = new Map<number, Point>();
  const stages: number[] = [];
  // Runs until the search has ended.
  let runs = 0;
  for (;;) {
    const { tasks, search } = plan(points, RANGE, targets);
    const goesOn = !search || Object.keys(search.wanted).length > 0;
    if (tasks.length === 0) return { points, stages, search, runs };
    stages.push(tasks.length);
    if (goesOn) runs += tasks.length;
    for (const { limit, seed } of tasks) {
      const point = points.get(limit) ?? new Map<number, Measured>();
      expect(point.has(seed)).toBe(false);
      point.set(seed, measured(measure(limit, seed)));
      points.set(limit, point);
    }
  }
}

test("a study goes from few buffers to many, then to more seeds, then ends", () => {
  const { points, stages } = studied([], (_, seed) => 0.5 + 0.05 * (seed % 2));
  const buffers = spread(RANGE, FINE).length;
  expect(stages[0]).toBe(COARSE);
  expect(stages[1]).toBe(buffers - COARSE);
  expect([...points.values()].every((runs) => runs.size === MOST_SEEDS)).toBe(true);
  expect(points.size).toBe(buffers);
});

/** What is missing to a full link falls by the power 1.5 of the limit; runs scatter by a fifth of it. */
function missing(limit: number, seed: number): number {
  const noise = Math.sin(12.9898 * seed + 78.233 * limit + 7) * 43758.5453;
  const uniform = noise - Math.floor(noise);
  return 0.02 * (276 / limit) ** 1.5 * (1 + 0.2 * Math.sqrt(12) * (uniform - 0.5));
}

test("a study finds the smallest buffer with its interval, by few runs", () => {
  const targets = targetsOf({ ...NONE, utilization: 0.98 });
  const { points, search, runs } = studied(targets, (limit, seed) =>
    Math.max(0, 1 - missing(limit, seed)),
  );
  const { limit, verdict, interval } = answerOf(points, targets, search);
  if (!interval || limit === null) throw new Error(search?.refused ?? "no interval");
  expect(interval.low).toBeLessThan(276);
  expect(interval.high).toBeGreaterThan(276);
  expect(Math.log(interval.high / interval.low) / 2).toBeLessThanOrEqual(PRECISION);
  expect(limit).toBe(Math.ceil(interval.high));
  expect(verdict).toBe("meets");
  expect(runs).toBeLessThan(120);
  expect(points.get(limit)?.size).toBeGreaterThanOrEqual(6);
  const text = answerText({ limit, verdict, interval, tooSmall: 0 }, targets, String, String);
  expect(text).toContain(`${limit}`);
  expect(text).toContain("95 % interval");
});

test("an interval is shown in whole steps, and the answer lies in it", () => {
  const search = {
    wanted: {},
    interval: { estimate: 150.2, low: 145.2, high: 160.3 },
    answer: 161,
    crossings: [],
    refused: null,
  };
  const { interval, tooSmall } = answerOf(new Map(), [], search);
  expect(interval).toEqual({ estimate: 151, low: 146, high: 161 });
  expect(tooSmall).toBe(145);
});

test("values that are only lower bounds are not fitted", () => {
  const metric = "web.all_sizes.completion_time_s_p95";
  const targets = targetsOf({ ...NONE, groups: { [metric]: 0.2 } });
  const runsOf = (seconds: number, most: number | null): Point =>
    new Map([0, 1].map((seed) => [seed, { [metric]: seconds, [`${metric}${AT_MOST}`]: most }]));
  const step = (most: number | null) =>
    searchStep(
      new Map([
        [10, runsOf(0.3, 0.3)],
        [40, runsOf(0.1, most)],
      ]),
      [10, 40],
      RANGE,
      targets,
    );
  expect(step(null).refused).toMatch("some values are only lower bounds");
  expect(step(0.25).refused).toMatch("some values are only lower bounds");
  expect(step(0.1).refused).toBeNull();
});

test("where a target is met, missed and met again, buffers are judged one by one", () => {
  const targets = targetsOf({ ...NONE, utilization: 0.9 });
  const { points, search } = studied(targets, (limit, seed) => {
    const dips = limit > 60 && limit < 400;
    return (limit < 10 || dips ? 0.5 : 0.95) + 0.01 * (seed % 2);
  });
  expect(search?.interval).toBeNull();
  expect(search?.refused).not.toBeNull();
  expect(answerOf(points, targets, search)).toEqual(smallest(points, targets));
});

test("a target that every buffer meets or misses needs no search", () => {
  for (const utilization of [0.1, 0.9]) {
    const { search } = studied(targetsOf({ ...NONE, utilization }), () => 0.5);
    expect(search?.refused).toMatch("no tried buffer begins to meet");
  }
});

test("a limit in bytes is searched in bytes: 95 % intervals, and answers of three digits", () => {
  const bytes = { smallest: 1500, largest: 900_000, digits: 3 };
  const targets = targetsOf({ ...NONE, utilization: 0.98 });
  const intervals = Array.from({ length: 6 }, (_, series) => {
    const points = new Map<number, Point>();
    for (;;) {
      const { tasks, search } = plan(points, bytes, targets);
      if (search?.interval) {
        const { limit } = answerOf(points, targets, search);
        expect(limit).toBe(Number((limit ?? 0).toPrecision(3)));
        return search.interval;
      }
      for (const { limit, seed } of tasks) {
        const point = points.get(limit) ?? new Map<number, Measured>();
        point.set(seed, measured(Math.max(0, 1 - missing(limit / 150, seed + 100 * series))));
        points.set(limit, point);
      }
    }
  });
  // 276 packets of 150 B; fewer than 4 of 6 would hold it with a probability of 0.2 %.
  const holding = intervals.filter(({ low, high }) => low <= 41_400 && high >= 41_400);
  expect(holding.length).toBeGreaterThanOrEqual(4);
}, 60_000);

test("buffers are whole, and each comes once", () => {
  expect(spread({ smallest: 1, largest: 8 }, 9)).toEqual([1, 2, 3, 4, 5, 6, 8]);
});

/** An engine whose queue has a threshold: it refuses limits up to the threshold. */
class Threshold {
  readonly tried: number[] = [];
  readonly #threshold: number;

  constructor(threshold: number) {
    this.#threshold = threshold;
  }

  resolve({ text }: Question): Promise<Resolved> {
    return Promise.resolve().then(() => {
      const limit = Number(/(\d+) packets/.exec(text)?.[1]);
      if (limit > this.#threshold) return { scenario: "", hash: null };
      throw new ScenarioFault([{ line: 1, key: "threshold", problem: "too large", remedy: "" }]);
    });
  }

  run({ text }: Question): Promise<never> {
    this.tried.push(Number(/(\d+) packets/.exec(text)?.[1]));
    return Promise.reject(new Error("no run"));
  }
}

test("the lower end of a study is the smallest limit that the queue accepts", async () => {
  const at = (limit: number): Question => ({ text: `${limit} packets`, set: {}, seed: null });
  for (const threshold of [0, 1, 65, 99]) {
    const found = await smallestAccepted(new Threshold(threshold), at, 100);
    expect(found).toBe(Math.max(1, threshold + 1));
  }
  await expect(smallestAccepted(new Threshold(100), at, 100)).rejects.toThrow("too large");
});

test.each([65, 300])("a study with a threshold of %i tries no refused limit", async (threshold) => {
  const engine = new Threshold(threshold);
  const study = new Study(engine as unknown as Engine, () => undefined);
  study.about(
    {
      text: "[links.l]\n",
      link: "l",
      queue: ["links", "l", "queue"],
      axis: limitAxis("packets"),
      largest: 200,
      seed: 1n,
    },
    [],
  );
  study.go(1);
  await expect.poll(() => study.state.running).toBe(false);
  expect(study.state.smallest).toBe(threshold < 200 ? threshold + 1 : null);
  expect(engine.tried.length > 0).toBe(threshold < 200);
  for (const limit of engine.tried) expect(limit).toBeGreaterThan(threshold);
  expect(study.state.fault).toMatch(threshold < 200 ? /no run/ : /too large/);
});
