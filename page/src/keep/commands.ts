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

/** What a buffer may be asked to do: the link is used, and a call survives. */
const TARGETS = ["utilization >= 98%", "queue_delay_s_p99 <= 30 ms"];
const RATES: [number, string][] = [
  [1e9, "Gbit/s"],
  [1e6, "Mbit/s"],
  [1e3, "kbit/s"],
  [1, "bit/s"],
];

/** The command for the buffer that a link should have, as `tailroom compare --measured` asks next. */
export function sizeOfLink(rateBps: number, rttS: number): string {
  const written = Number(rateBps.toPrecision(4));
  const [unit, name] = RATES.find(([one]) => written >= one) ?? [1, "bit/s"];
  const rate = `${rounded(rateBps / unit, 2)} ${name}`;
  const asked = TARGETS.map((target) => `--target ${quoted(target)}`).join(" ");
  return `tailroom size --rate ${quoted(rate)} --rtt ${quoted(delay(rttS))} ${asked}`;
}

function delay(seconds: number): string {
  const ms = 1e3 * seconds;
  if (ms < 0.09995) return `${rounded(1e3 * ms, 1)} us`;
  if (ms >= 9999.5) return `${rounded(seconds, 2)} s`;
  return `${rounded(ms, ms < 0.9995 ? 3 : ms < 9.995 ? 2 : 1)} ms`;
}

/** Four significant digits, with at most so many decimals. */
function rounded(value: number, decimals: number): string {
  const before = Math.floor(Math.log10(Number(value.toPrecision(4)))) + 1;
  return String(Number(value.toFixed(Math.max(0, Math.min(decimals, 4 - before)))));
}

function trim(value: number): string {
  return String(Number(value.toPrecision(12)));
}
