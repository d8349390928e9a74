/** Scales and their ticks. */

import { plain } from "../scenario/quantities";

const DECADES_RATIO = 30;

/** Whether values span enough decades for a logarithmic scale. */
export function spansDecades(values: number[]): boolean {
  const positive = values.filter((value) => Number.isFinite(value) && value > 0);
  if (positive.length < 2) return false;
  return Math.max(...positive) / Math.min(...positive) >= DECADES_RATIO;
}

/** Ticks of a linear scale: at most about eight round numbers. */
export function linearTicks(low: number, high: number): number[] {
  const rough = (high - low) / 6;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5, 10].find((factor) => factor * size >= rough) ?? 10);
  const ticks: number[] = [];
  for (let at = Math.ceil(low / step); at * step <= high + 1e-9 * step; at++) {
    ticks.push(Number((at * step).toPrecision(12)));
  }
  return ticks;
}

/** Ticks of a logarithmic scale: powers of ten, and 2 and 5 between them if there are few. */
export function logTicks(low: number, high: number): number[] {
  const factors = high / low > 300 ? [1] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of factors) {
      const at = Number((factor * 10 ** power).toPrecision(12));
      if (at >= low && at <= high) ticks.push(at);
    }
  }
  return ticks;
}

export function tickText(value: number, percent = false): string {
  if (percent) return `${plain(100 * value, 4)} %`;
  const isSmall = value !== 0 && Math.abs(value) < 1e-3;
  return isSmall ? value.toExponential(0).replace("-", "−") : plain(value, 6);
}
