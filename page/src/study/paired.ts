/** Settings next to the present one, with common seeds: what they change is the mean of the differences
 * run by run, so that no noise that both share is taken for a change. */

import { isAbort } from "../engine/engine";
import type { Engine } from "../engine/pool";
import { questionOf } from "../scenario/reading";
import { measure, type Metric, type Point, pointAt } from "./point";
import { meanInterval, type Interval } from "./statistics";

/** Before the curve of the study. */
const PRIORITY = 2;
/** Settings whose runs are remembered. */
const MOST_REMEMBERED = 64;

export interface PairedSubject {
  link: string;
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
  #seeds: number[] = [];
  #abort: AbortController | null = null;
  #isPaused = true;

  constructor(engine: Engine, onChange: () => void) {
    this.#engine = engine;
    this.#onChange = onChange;
  }

  /** Takes the settings; each gets a run with every seed of `own`, the runs of the present one. */
  about(subject: PairedSubject, own: Point): void {
    this.#subject = subject;
    this.#seeds = [...own.keys()].sort((a, b) => a - b);
    void this.#work();
  }

  /** The runs of a setting so far. */
  pointOf(name: string): Point {
    return pointAt(this.#runs, this.#keyOf(name));
  }

  go(): void {
    this.#isPaused = false;
    void this.#work();
  }

  pause(): void {
    this.#isPaused = true;
    this.#abort?.abort();
    this.#abort = null;
  }

  #keyOf(name: string): string {
    const { texts, link, seedOf } = this.#subject ?? {};
    return JSON.stringify([texts?.get(name), link, String(seedOf?.(0))]);
  }

  #missing(name: string): number[] {
    const key = this.#keyOf(name);
    const point = this.#runs.get(key);
    return this.#lost.has(key) ? [] : this.#seeds.filter((seed) => !point?.has(seed));
  }

  async #work(): Promise<void> {
    if (this.#isPaused || this.#abort) return;
    const abort = new AbortController();
    this.#abort = abort;
    while (!abort.signal.aborted) {
      const names = [...(this.#subject?.texts.keys() ?? [])];
      const tasks = names.flatMap((name) => this.#missing(name).map((seed) => ({ name, seed })));
      if (tasks.length === 0) break;
      await Promise.all(tasks.map(({ name, seed }) => this.#run(name, seed, abort.signal)));
      this.#onChange();
    }
    if (this.#abort === abort) this.#abort = null;
  }

  async #run(name: string, seed: number, signal: AbortSignal): Promise<void> {
    const subject = this.#subject;
    const text = subject?.texts.get(name);
    if (!subject || text === undefined) return;
    const key = this.#keyOf(name);
    const question = { ...questionOf(text), seed: subject.seedOf(seed) };
    try {
      const { summary } = await this.#engine.run(question, { signal, priority: PRIORITY });
      const point = pointAt(this.#runs, key);
      this.#runs.delete(key);
      this.#runs.set(key, point.set(seed, measure(summary, subject.link)));
      const [oldest] = this.#runs.keys();
      if (this.#runs.size > MOST_REMEMBERED && oldest !== undefined) this.#runs.delete(oldest);
    } catch (error) {
      // A setting that the engine refuses, such as half of the smallest buffer, has no runs.
      if (!isAbort(error)) this.#lost.add(key);
    }
  }
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
