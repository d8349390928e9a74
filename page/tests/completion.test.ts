import { expect, test } from "vitest";
import "./engine_here";
import { verdictOf, verdictOfAll } from "../src/study/answer";
import type { Point } from "../src/study/point";

test("a completion time that is only a lower bound shows a miss, and meets only with what it is at most", () => {
  const metric = "web.all_sizes.completion_time_s_p95";
  const target = { metric, atLeast: false, bound: 0.2, highest: null, text: "" };
  const point = (value: number, most: number | null): Point =>
    new Map([0, 1, 2, 3].map((seed) => [seed, { [metric]: value, [`${metric}_at_most`]: most }]));
  expect(verdictOf(point(0.3, null), target)).toBe("misses");
  expect(verdictOf(point(0.1, null), target)).toBe("undecided");
  expect(verdictOf(point(0.1, 0.3), target)).toBe("undecided");
  expect(verdictOf(point(0.1, 0.15), target)).toBe("meets");
  const crossing = { estimate: 10, low: 9, high: 11 };
  expect(verdictOfAll(20, point(0.1, null), [target], [crossing])).toBe("undecided");
  expect(verdictOfAll(20, point(0.1, 0.15), [target], [crossing])).toBe("meets");
});
