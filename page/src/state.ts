/** What the page shows, in one place: everything that an address holds. */

export interface Targets {
  /** Smallest utilization, a fraction. */
  utilization: number | null;
  /** Largest 99th percentile of the queueing delay, in seconds. */
  delayS: number | null;
  /** Largest loss fraction. */
  loss: number | null;
  /** Largest delays and completion times of groups, in seconds, by the metric's name in
   * `tailroom size`: `voice.queue_delay_s_p99`. */
  groups: Record<string, number>;
}

/** The targets for all packets of the link. */
export type LinkTarget = Exclude<keyof Targets, "groups">;

/** The largest value of each target. */
export const LARGEST_TARGETS: Record<LinkTarget, number> = {
  utilization: 1,
  delayS: Infinity,
  loss: 1,
};

/** A setting that is kept for comparison. */
export interface Kept {
  name: string;
  text: string;
  link: string | null;
}

/** Characters of the name of a kept setting. */
export const LONGEST_NAME = 80;

/** Settings that are kept next to the one that is asked. */
export const MOST_KEPT = 2;

export interface State {
  /** The scenario, as TOML. */
  text: string;
  /** The link whose buffer is asked for; null for the busiest. */
  link: string | null;
  /** The group whose packets are watched; "" for all packets, null for the page's choice. */
  who: string | null;
  targets: Targets;
  kept: Kept[];
}

export const NO_TARGETS: Targets = { utilization: null, delayS: null, loss: null, groups: {} };

type Listener = (state: State, before: State) => void;

export class Store {
  #state: State;
  readonly #listeners: Listener[] = [];

  constructor(state: State) {
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  subscribe(listener: Listener): void {
    this.#listeners.push(listener);
  }

  change(part: Partial<State>): void {
    const before = this.#state;
    this.#state = { ...before, ...part };
    for (const listener of this.#listeners) listener(this.#state, before);
  }
}
