/** Grades of bufferbloat, as speed tests give them.
 *
 * Source: https://www.dslreports.com/faq/17930. The tests grade the mean increase of the round-trip
 * time under load; here that is the mean queueing delay of a group's packets.
 */

const GRADES: [below: number, grade: string][] = [
  [0.005, "A+"],
  [0.03, "A"],
  [0.06, "B"],
  [0.2, "C"],
  [0.4, "D"],
];

export const GRADES_TEXT =
  "Grades as bufferbloat tests give them (dslreports.com/faq/17930), here by the mean wait: A+ below " +
  "5 ms, A below 30, B below 60, C below 200, D below 400, else F.";

/** The grade of a mean queueing delay in seconds. */
export function gradeOf(delayS: number): string {
  return GRADES.find(([below]) => delayS < below)?.[1] ?? "F";
}
