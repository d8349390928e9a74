/** Settings next to the present one, with common seeds: what they change is the mean of the differences
 * run by run, so that no noise that both share is taken for a change. */

import { isAbort } from "../engine/engine";
import type { Engine } from "../engine/pool";
import { questionOf } from "../scenario/reading";
import { measure, type Metric, type Point, pointAt } from "./point";
import { meanInterval, type Interval } from "./statistics";

/** The first runs come before the curve of the study, the others after it. */
const PRIORITY = { first: 2, more: 0 };
/** Runs of each setting, and of one whose first runs differ from those of the present setting. */
const FEWEST_SEEDS = 3;
const MOST_SEEDS = 8;
/** Runs that take longer are not repeated so often. */
const LONG_RUN_MS = 4_000;
/** Settings whose runs are remembered. */
const MOST_REMEMBERED = 64;

export interface PairedSubject {
  link: string;
  /** The present setting. */
  text: string;
  /** The seed of a run of the present setting, by its number. */
  seedOf: (seed: number) => bigint;
  /** The scenarios of the other settings, by name. */
  texts: Map<string, string>;
}

export class Paired {
  readonly #engine: Engine;
  readonly #onChange: () => void;
  /** The runs of a setting, by its text, link and first seed; the least recent is forgotten. */
  readonly #runs = new Map<string, Point>();
  readonly #lost = new Set<string>();
  #subject: PairedSubject | null = null;
  /** The runs of the present setting that others performed. */
  #own: Point = new Map();
  #isLong = false;
  #abort: AbortController | null = null;
  #isPaused = true;

  constructor(engine: Engine, onChange: () => void) {
    this.#engine = engine;
    this.#onChange = onChange;
  }

  /** Takes the settings; each gets a run with every seed of `own`, the runs of the present one. */
  about(subject: PairedSubject, own: Point): void {
    this.#subject = subject;
    this.#own = own;
    void this.#work();
  }

  /** The runs of a setting so far. */
  pointOf(name: string): Point {
    return pointAt(this.#runs, this.#keyOf(this.#subject?.texts.get(name)));
  }

  /** The runs of the present setting. */
  get own(): Point {
    return new Map([...pointAt(this.#runs, this.#keyOf(this.#subject?.text)), ...this.#own]);
  }

  /** @param runMs - Time that a run is expected to take. */
  go(runMs: number): void {
    this.#isLong = runMs > LONG_RUN_MS;
    this.#isPaused = false;
    void this.#work();
  }

  pause(): void {
    this.#isPaused = true;
    this.#abort?.abort();
    this.#abort = null;
  }

  #keyOf(text: string | undefined): string {
    const { link, seedOf } = this.#subject ?? {};
    return JSON.stringify([text, link, String(seedOf?.(0))]);
  }

  /** The runs that come next: those with the seeds of `own`, then more where these differ. */
  #tasks(): PairedTask[] {
    const { text = "", texts } = this.#subject ?? {};
    const own = this.own;
    const seeds = [...this.#own.keys()];
    const others = [...(texts?.values() ?? [])];
    const first = others.flatMap((other) => this.#missing(other, seeds));
    if (first.length > 0 || this.#isLong || seeds.length < FEWEST_SEEDS) return first;
    const differing = others.filter(
      (other) => !areSame(own, pointAt(this.#runs, this.#keyOf(other))),
    );
    if (differing.length === 0) return [];
    const more = Array.from({ length: MOST_SEEDS }, (_, seed) => seed);
    const open = more.filter((seed) => !own.has(seed));
    return [
      ...this.#missing(text, open),
      ...differing.flatMap((other) => this.#missing(other, more)),
    ];
  }

  #missing(text: string, seeds: number[]): PairedTask[] {
    const key = this.#keyOf(text);
    const point = this.#runs.get(key);
    if (this.#lost.has(key)) return [];
    return seeds.filter((seed) => !point?.has(seed)).map((seed) => ({ text, key, seed }));
  }

  async #work(): Promise<void> {
    if (this.#isPaused || this.#abort) return;
    const abort = new AbortController();
    this.#abort = abort;
    while (!abort.signal.aborted) {
      const subject = this.#subject;
      const tasks = this.#tasks();
      if (!subject || tasks.length === 0) break;
      await Promise.all(tasks.map((task) => this.#run(subject, task, abort.signal)));
      this.#onChange();
    }
    if (this.#abort === abort) this.#abort = null;
  }

  async #run(
    { link, seedOf }: PairedSubject,
    { text, key, seed }: PairedTask,
    signal: AbortSignal,
  ): Promise<void> {
    const question = { ...questionOf(text), seed: seedOf(seed) };
    const priority = seed < FEWEST_SEEDS ? PRIORITY.first : PRIORITY.more;
    try {
      const { summary } = await this.#engine.run(question, { signal, priority });
      const point = pointAt(this.#runs, key);
      this.#runs.delete(key);
      this.#runs.set(key, point.set(seed, measure(summary, link)));
      const [oldest] = this.#runs.keys();
      if (this.#runs.size > MOST_REMEMBERED && oldest !== undefined) this.#runs.delete(oldest);
    } catch (error) {
      // A setting that the engine refuses, such as half of the smallest buffer, has no runs.
      if (!isAbort(error)) this.#lost.add(key);
    }
  }
}

interface PairedTask {
  text: string;
  key: string;
  /** Number of the seed. */
  seed: number;
}

/** What another setting changes in a metric: the mean difference over the common seeds, with its 95 %
 * interval; null without common runs that measured the metric. */
export function pairedDifference(from: Point, to: Point, metric: Metric | null): Interval | null {
  if (metric === null) return null;
  const values = [...from].flatMap(([seed, run]) => {
    const [before, after] = [run[metric] ?? null, to.get(seed)?.[metric] ?? null];
    return before === null || after === null ? [] : [after - before];
  });
  return meanInterval(values);
}

/** Whether the runs with common seeds measured the same in everything. */
export function areSame(a: Point, b: Point): boolean {
  const common = [...a.keys()].filter((seed) => b.has(seed));
  const textOf = (point: Point, seed: number): string => JSON.stringify(point.get(seed));
  return common.length > 0 && common.every((seed) => textOf(a, seed) === textOf(b, seed));
}
