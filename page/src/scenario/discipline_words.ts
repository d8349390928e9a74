/** What the queue disciplines are, in the few words that there is room for in a sentence. */

const WORDS: Record<string, string> = {
  drop_tail: "one queue that drops what does not fit",
  drop_head: "one queue that drops its oldest packet when full",
  random_drop: "one queue that drops any of its packets when full",
  red: "one queue that drops or marks at random, more often the longer it is",
  adaptive_red: "RED, which drops or marks at random, adapted to the load",
  step_mark: "one queue that marks packets above a threshold",
  wred: "one queue that marks at random between two thresholds",
  codel: "one queue that drops or marks while waits stay above a target",
  pie: "one queue that drops or marks at random to hold waits near a target",
  dual_pi2: "two queues, a short one for L4S packets",
  fair: "a queue per flow, each with its share of the link",
  fq_codel: "a queue per flow, each dropping or marking while waits stay above a target",
  fq_pie: "a queue per flow, each dropping or marking at random to hold waits near a target",
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
