/** Means over runs with their 95 % intervals. */

import { here } from "../engine/here";

/** 97.5 % quantiles of Student's t distribution for 1, 2, ... degrees of freedom, as far as used. */
const quantiles: number[] = [];

function quantile(degrees: number): number {
  return (quantiles[degrees - 1] ??= here().student_quantile(degrees, 0.975));
}

export interface Interval {
  mean: number;
  /** Half of the width of the 95 % interval; infinite for a single value. */
  halfWidth: number;
  count: number;
}

/** The mean of independent values with its interval; null without values. */
export function meanInterval(values: number[]): Interval | null {
  const count = values.length;
  const first = values[0];
  if (first === undefined) return null;
  if (count === 1) return { mean: first, halfWidth: Infinity, count };
  // With differences from the first value, equal values have width 0 despite rounding.
  const differences = values.map((value) => value - first);
  const mean = differences.reduce((total, value) => total + value, 0) / count;
  const squares = differences.reduce((total, value) => total + (value - mean) ** 2, 0);
  const error = Math.sqrt(squares / (count - 1) / count);
  return { mean: first + mean, halfWidth: quantile(count - 1) * error, count };
}

/** Jain's index (sum x)^2 / (n sum x^2) of rates; null without flows or if all rates are 0. */
export function jainIndex(rates: number[]): number | null {
  const total = rates.reduce((sum, rate) => sum + rate, 0);
  const squares = rates.reduce((sum, rate) => sum + rate * rate, 0);
  return squares > 0 ? total ** 2 / (rates.length * squares) : null;
}
