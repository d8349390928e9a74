/** Completion times of groups in words. */

import type { GroupSummary } from "../engine/engine";
import { duration } from "../scenario/quantities";

/** The time within which 95 % of the flows of a group complete, after ≥ if that may be longer: flows that
 * have not completed count with their age. */
export function completion({ all_sizes: all }: GroupSummary): string {
  const mark = all?.completion_time_s_p95_is_lower_bound ? "≥ " : "";
  return `${mark}${duration(all?.completion_time_s_p95 ?? null)}`;
}
