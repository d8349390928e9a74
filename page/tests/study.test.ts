import { expect, test } from "vitest";
import { ScenarioFault, type Question, type Resolved } from "../src/engine/engine";
import { begin } from "../src/engine/here";
import type { Engine } from "../src/engine/pool";
import { smallest, targetsOf, verdictOf } from "../src/study/answer";
import { COARSE, FINE, MOST_SEEDS, nextTasks, spread } from "../src/study/plan";
import type { Measured, Point } from "../src/study/point";
import { smallestAccepted } from "../src/study/smallest_accepted";
import { Study } from "../src/study/study";
import { jainIndex, meanInterval } from "../src/study/statistics";

const RANGE = { smallest: 1, largest: 5000 };
const NONE = { utilization: null, delayS: null, loss: null };

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
  expect(answer).toEqual({ limit: 100, verdict: "meets", tooSmall: 1 });
  const none = smallest(points, targetsOf({ ...NONE, delayS: 0.001 }));
  expect(none).toEqual({ limit: null, verdict: "misses", tooSmall: 1000 });
});

test("a study goes from few buffers to many, then to more seeds, then ends", () => {
  const points = new Map<number, Point>();
  const stages: number[] = [];
  for (;;) {
    const tasks = nextTasks(points, RANGE, []);
    if (tasks.length === 0) break;
    stages.push(tasks.length);
    for (const { limit, seed } of tasks) {
      const runs = points.get(limit) ?? new Map<number, Measured>();
      runs.set(seed, measured(0.5 + 0.05 * (seed % 2)));
      points.set(limit, runs);
    }
  }
  const buffers = spread(RANGE, FINE).length;
  expect(stages[0]).toBe(COARSE);
  expect(stages[1]).toBe(buffers - COARSE);
  expect([...points.values()].every((runs) => runs.size === MOST_SEEDS)).toBe(true);
  expect(points.size).toBe(buffers);
});

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

/** The engine's edits of a text, as far as a study needs them here. */
const EDITS = {
  set_key: (_text: string, path: string[], value: string) => `${path.join(".")} = ${value}`,
  remove_key: (text: string) => text,
  advice: () => "[]",
  equivalents: () => "[]",
};

test.each([65, 300])("a study with a threshold of %i tries no refused limit", async (threshold) => {
  begin(EDITS);
  const engine = new Threshold(threshold);
  const study = new Study(engine as unknown as Engine, () => undefined);
  study.about({ text: "[links.l]\n", link: "l", largest: 200, seed: 1 }, []);
  study.go(1);
  await expect.poll(() => study.state.running).toBe(false);
  expect(study.state.smallest).toBe(threshold < 200 ? threshold + 1 : null);
  expect(engine.tried.length > 0).toBe(threshold < 200);
  for (const limit of engine.tried) expect(limit).toBeGreaterThan(threshold);
  expect(study.state.fault).toMatch(threshold < 200 ? /no run/ : /too large/);
});
