/** The rules of the literature, which the engine knows. */

import { here } from "../engine/here";
import type { Targets } from "../state";
import type { Bottleneck as Link } from "../engine/engine";

/** What a required buffer must achieve, if the rule can take it into account. */
export interface Requirement {
  utilization: number;
  loss: number;
}

export const DEFAULT_REQUIREMENT: Requirement = { utilization: 0.98, loss: 1e-3 };

export interface Assumption {
  statement: string;
  holds: boolean;
  /** The scenario's value if the assumption fails; else empty. */
  found: string;
}

export interface Advice {
  name: string;
  /** A few words for a mark in a picture. */
  short: string;
  title: string;
  source: string;
  /** Required limit in packets, infinite if no limit suffices; null if the rule does not apply. */
  packets: number | null;
  /** What the limit is for, or why the rule does not apply. */
  words: string;
  assumptions: Assumption[];
}

/** What each rule says about a link. */
export function adviceFor(link: Link, target: Requirement): Advice[] {
  const text = here().advice(JSON.stringify(link), target.utilization, target.loss);
  const said = JSON.parse(text) as (Advice & { applies: boolean })[];
  // JSON has no infinity.
  return said.map(({ applies, packets, ...one }) => ({
    ...one,
    packets: applies ? (packets ?? Infinity) : null,
  }));
}

/** What the rules shall achieve: the targets, and what is usual where there is none. */
export function requirementOf({ utilization, loss }: Targets): Requirement {
  const between = (value: number | null): number | null =>
    value !== null && value > 0 && value < 1 ? value : null;
  return {
    utilization: between(utilization) ?? DEFAULT_REQUIREMENT.utilization,
    loss: between(loss) ?? DEFAULT_REQUIREMENT.loss,
  };
}
