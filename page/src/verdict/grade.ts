/** Grades of bufferbloat, with the bounds of speed tests.
 *
 * Source: https://www.dslreports.com/faq/17930. The tests grade the mean increase of the round-trip
 * time under load; here the grade is that of the wait next to it.
 */

import type { Bottleneck } from "../engine/engine";
import { rttOf } from "../rules/bottleneck";

const GRADES: [below: number, grade: string][] = [
  [0.005, "A+"],
  [0.03, "A"],
  [0.06, "B"],
  [0.2, "C"],
  [0.4, "D"],
];
/** Flows with shorter round trips are those of a data centre, where nobody makes calls. */
const SHORT_RTT_S = 0.001;

export const GRADES_TEXT =
  "A grade is that of the wait next to it, which 99 of 100 packets do not exceed, by the bounds of " +
  "bufferbloat tests (dslreports.com/faq/17930): A+ below 5 ms, A below 30, B below 60, C below 200, " +
  "D below 400, else F. The tests themselves grade the mean. There are no grades in data centres.";

/** The grade of a queueing delay in seconds. */
export function gradeOf(delayS: number): string {
  return GRADES.find(([below]) => delayS < below)?.[1] ?? "F";
}

/** The grade of a wait at a link; empty if it is not known, and for flows of a data centre. */
export function gradeAt(link: Bottleneck | null, delayS: number | null): string {
  const rttS = link ? rttOf(link) : 0;
  const isShort = rttS > 0 && rttS < SHORT_RTT_S;
  return delayS === null || isShort ? "" : gradeOf(delayS);
}
