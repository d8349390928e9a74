/** The interface of rules: a buffer from a formula, and the assumptions behind it. */

import type { Bottleneck } from "./bottleneck";

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

export interface Prediction {
  /** Smallest queue limit, in waiting packets; infinite if no limit suffices. */
  packets: number;
  /** What that limit is for. */
  purpose: string;
}

/** The rule does not apply to the link. */
export class NotApplicable extends Error {}

export interface Rule {
  name: string;
  /** A few words for a mark in a picture. */
  short: string;
  title: string;
  source: string;
  /** @throws NotApplicable */
  predict: (link: Bottleneck, target: Requirement) => Prediction;
  assumptions: (link: Bottleneck) => Assumption[];
}

export function assume(statement: string, holds: boolean, found: string): Assumption {
  return { statement, holds, found: holds ? "" : found };
}

export function needPermanentFlows(link: Bottleneck): void {
  if (link.classes.length === 0) {
    throw new NotApplicable(
      `link ${link.name}: no permanent flow under congestion control crosses it`,
    );
  }
}
