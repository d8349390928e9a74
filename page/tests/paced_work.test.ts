import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Paced } from "../src/paced_work";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("of many events the first is answered at once, and the others together", () => {
  let done = 0;
  const paced = new Paced(
    () => done++,
    () => 100,
  );
  for (let event = 0; event < 45; event++) {
    paced.soon();
    vi.advanceTimersByTime(10);
  }
  // At 0, 100, 200, 300 and 400 ms.
  expect(done).toBe(5);
  vi.advanceTimersByTime(1000);
  expect(done).toBe(6);
});

test("what takes long is done more rarely: a twentieth of the time", () => {
  let spent = 0;
  const paced = new Paced(
    () => {
      vi.advanceTimersByTime(40);
      spent += 40;
    },
    () => 100,
  );
  const began = performance.now();
  while (performance.now() - began < 20_000) {
    paced.soon();
    vi.advanceTimersByTime(10);
  }
  expect(spent / 20_000).toBeGreaterThan(0.03);
  expect(spent / 20_000).toBeLessThanOrEqual(0.06);
});

test("what is due now is not done once more for those who asked before", () => {
  let done = 0;
  const paced = new Paced(
    () => done++,
    () => 100,
  );
  paced.soon();
  paced.soon();
  paced.now();
  vi.advanceTimersByTime(5000);
  expect(done).toBe(2);
});
