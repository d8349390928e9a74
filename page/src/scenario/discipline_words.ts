/** What the queue disciplines are, in the few words that there is room for in a sentence. */

const WORDS: Record<string, string> = {
  drop_tail: "one queue that drops what does not fit",
  drop_head: "one queue that drops its oldest packet when full",
  random_drop: "one queue that drops any of its packets when full",
  red: "one queue that drops or marks at random, more often the longer it is",
  adaptive_red: "RED, which drops or marks at random, adapted to the load",
  step_mark: "one queue that marks packets above a threshold",
  wred: "one queue that marks at random between two thresholds",
  codel: "one queue, held to a target delay by drops or marks",
  pie: "one queue, held near a target delay by random drops or marks",
  dual_pi2: "two queues, a short one for L4S packets",
  fair: "a queue per flow, each with its share of the link",
  fq_codel: "a queue per flow, each held to a target delay",
  fq_pie: "a queue per flow, each held near a target delay",
  cake: "a shaper, a queue per flow held to a target delay, equal shares for hosts",
  custom: "a discipline of your own",
};

/** The words on a discipline; empty for a name without. */
export function wordsOn(kind: string): string {
  return WORDS[kind] ?? "";
}

/** A discipline with its words: "drop_tail (one queue that drops what does not fit)". */
export function withWords(kind: string): string {
  const words = wordsOn(kind);
  return words ? `${kind} (${words})` : kind;
}
