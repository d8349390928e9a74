/** The rules of the literature, asked for a link. */

import { BBR_BUFFER } from "./bbr_buffer";
import type { Bottleneck } from "./bottleneck";
import { BURST_CLIFF } from "./burst_cliff";
import { DCTCP_THRESHOLD } from "./dctcp_threshold";
import { DECREASE_RULE } from "./decrease_rule";
import { LOSS_AND_DELAY_BOUNDS } from "./loss_and_delay_bounds";
import { RULE_OF_THUMB } from "./rule_of_thumb";
import { NotApplicable, type Assumption, type Requirement, type Rule } from "./rule";
import { SQUARE_ROOT_RULE } from "./square_root_rule";
import { STABILITY } from "./stability";
import { TINY_BUFFERS } from "./tiny_buffers";

export const RULES: Rule[] = [
  RULE_OF_THUMB,
  SQUARE_ROOT_RULE,
  DECREASE_RULE,
  TINY_BUFFERS,
  BURST_CLIFF,
  STABILITY,
  LOSS_AND_DELAY_BOUNDS,
  BBR_BUFFER,
  DCTCP_THRESHOLD,
];

export interface Advice {
  rule: Rule;
  /** Required limit in packets; null if the rule does not apply. */
  packets: number | null;
  /** What the limit is for, or why the rule does not apply. */
  words: string;
  assumptions: Assumption[];
}

/** What each rule says about a link. */
export function adviceFor(link: Bottleneck, target: Requirement): Advice[] {
  return RULES.map((rule) => {
    try {
      const { packets, purpose } = rule.predict(link, target);
      return { rule, packets, words: purpose, assumptions: rule.assumptions(link) };
    } catch (error) {
      if (!(error instanceof NotApplicable)) throw error;
      return { rule, packets: null, words: error.message, assumptions: [] };
    }
  });
}
