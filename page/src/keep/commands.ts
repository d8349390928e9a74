/** Command lines that repeat what the page shows. */

import type { Targets } from "../state";

/** A word for the shell. */
function quoted(text: string): string {
  return /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Commands for a scenario: the run, and with targets the smallest buffer.
 *
 * @param scenario - Name of a shipped scenario, or of the file that the page offers.
 */
export function commands(scenario: string, link: string, targets: Targets): string[] {
  const name = quoted(scenario);
  const bounds: string[] = [];
  const { utilization, delayS, loss, groups } = targets;
  if (utilization !== null) bounds.push(`utilization >= ${trim(100 * utilization)}%`);
  if (delayS !== null) bounds.push(`queue_delay_s_p99 <= ${trim(1000 * delayS)}ms`);
  if (loss !== null) bounds.push(`loss_fraction <= ${trim(100 * loss)}%`);
  for (const [metric, bound] of Object.entries(groups)) {
    bounds.push(`${metric} <= ${trim(1000 * bound)}ms`);
  }
  const run = `tailroom run ${name}`;
  if (bounds.length === 0) return [run];
  const asked = bounds.map((bound) => `--target ${quoted(bound)}`).join(" ");
  return [run, `tailroom size ${name} --link ${quoted(link)} ${asked}`];
}

function trim(value: number): string {
  return String(Number(value.toPrecision(12)));
}
