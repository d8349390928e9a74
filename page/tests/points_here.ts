/** Points of a trade-off that tests make up, and texts of shipped scenarios. */

import { PRESETS } from "../src/scenario/presets";
import type { Measured, Point } from "../src/study/point";

/** The metric of the waits. */
export const WAIT = "voice.queue_delay_s_p99";

/** Runs whose values lie around a mean; the spread of the wait is relative. */
export function runs(utilization: number, wait: number, spreads: number[]): Point {
  return new Map(
    spreads.map((by, seed): [number, Measured] => [
      seed,
      { utilization: utilization + by, [WAIT]: wait * (1 + by) },
    ]),
  );
}

export const SURE = [-0.0001, 0, 0.0001];
export const POINTS = new Map([
  [50, runs(0.94, 0.03, SURE)],
  [100, runs(0.98, 0.06, SURE)],
  [200, runs(0.9801, 0.12, SURE)],
]);

export function presetText(name: string): string {
  const preset = PRESETS.find((one) => one.name === name);
  if (!preset) throw new Error(`no preset ${name}`);
  return preset.text;
}
