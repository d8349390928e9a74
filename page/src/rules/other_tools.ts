/** A port in the words of other tools, which the engine knows. */

import { here } from "../engine/here";
import type { Bottleneck } from "./bottleneck";

/** The configuration of a port in another tool. */
export interface Equivalent {
  tool: string;
  /** Where the configuration belongs; may be empty. */
  purpose: string;
  /** Commands or statements, one a line; without an exact equivalent, a sentence that says why. */
  text: string;
  /** What else the lines need or do, a sentence each. */
  notes: string[];
  /** What was simulated and is not in the lines. */
  left_out: { key: string; reason: string }[];
}

/** How the text of a tool begins that has no lines for the port. */
const NO_LINES = "no exact equivalent: ";

/** The port of a link, with its limit, in the words of other tools; those that have lines come first. */
export function equivalents(link: Bottleneck): Equivalent[] {
  const { unit, steps } = link.buffer;
  const text = here().equivalents(JSON.stringify(link), unit, steps);
  const all = JSON.parse(text) as Equivalent[];
  return [...all.filter(hasLines), ...all.filter((one) => !hasLines(one))];
}

export function hasLines({ text }: Equivalent): boolean {
  return !text.startsWith(NO_LINES);
}

/** The tool, and where the configuration belongs. */
export function headingOf({ tool, purpose }: Equivalent): string {
  return purpose ? `${tool}, ${purpose}` : tool;
}

/** What the lines of a tool need, and what they leave out, as texts that follow the lines. */
export function remarksOn({ notes, left_out: left }: Equivalent): string[] {
  const keys = new Map<string, string[]>();
  for (const { key, reason } of left) keys.set(reason, [...(keys.get(reason) ?? []), key]);
  const words = [...keys].map(([reason, some]) => `left out: ${some.join(", ")}: ${reason}`);
  return [...notes, ...words];
}
