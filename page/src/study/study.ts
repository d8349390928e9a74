/** The study of a scenario: runs over the buffer, while nothing more urgent is to be done. */

import { isAbort, type Question } from "../engine/engine";
import type { Engine } from "../engine/pool";
import { questionOf } from "../scenario/reading";
import { removeKey } from "../scenario/text";
import type { Target } from "./target";
import { withValue, type Axis } from "./axis";
import { rangeIn } from "../rules/buffer_units";
import type { Task } from "./curve_plan";
import { plan, WHOLE, type Effort, type Plan } from "./plan";
import { measure, type Point, pointAt } from "./point";
import type { SearchStep } from "./search";
import { smallestAccepted } from "./smallest_accepted";

/** Distance between the first seeds of buffers of n and n + 1 steps, as of `tailroom size`: runs with
 * common seeds are not independent. */
const SEEDS_APART = 1_000;
/** Studies that are remembered, so that going back to a setting shows its curve at once. */
const MOST_REMEMBERED = 12;
/** A study whose runs are expected to take longer begins only if asked. */
const LONG_RUN_MS = 20_000;

export interface Subject {
  text: string;
  link: string;
  /** Path of the link's queue in the text. */
  queue: string[];
  /** What is varied. */
  axis: Axis;
  /** Smallest value, where it needs not be found. */
  smallest?: number;
  /** Largest value of the axis. */
  largest: number;
  /** Seed of the scenario, from which those of the runs follow. */
  seed: bigint;
  effort?: Effort;
}

export interface StudyState {
  subject: Subject | null;
  points: Map<number, Point>;
  /** The smallest buffer that the queue accepts; null until it is known. */
  smallest: number | null;
  /** The search for the answer as far as it got; null without targets, and before it begins. */
  search: SearchStep | null;
  /** Runs that have ended. */
  runs: number;
  running: boolean;
  done: boolean;
  /** Runs that failed, and why the last one did. */
  failed: number;
  fault: string;
  /** Runs take so long that the study waits to be started by hand. */
  waits: boolean;
}

/** What is known about a subject, whatever its limit. */
interface Known {
  points: Map<number, Point>;
  smallest: number | null;
}

/** The text of a run of a study: another value of its axis, and no time series. */
export function studyText(
  { text, queue, axis }: Pick<Subject, "text" | "queue" | "axis">,
  value: number,
): string {
  return withValue(removeKey(text, ["series"]), queue, axis, value);
}

export class Study {
  readonly #engine: Engine;
  readonly #onChange: () => void;
  readonly #priority: number;
  readonly #remembered = new Map<string, Known>();
  #subject: Subject | null = null;
  #known: Known = { points: new Map(), smallest: null };
  #targets: Target[] = [];
  #search: SearchStep | null = null;
  #abort: AbortController | null = null;
  /** Names of the tasks that failed. */
  #lost = new Set<string>();
  #fault = "";
  #done = false;
  #waits = false;
  #wanted = false;

  constructor(engine: Engine, onChange: () => void, priority = 1) {
    this.#priority = priority;
    this.#engine = engine;
    this.#onChange = onChange;
  }

  get state(): StudyState {
    return {
      subject: this.#subject,
      ...this.#known,
      search: this.#search,
      runs: [...this.#known.points.values()].reduce((total, point) => total + point.size, 0),
      running: this.#abort !== null,
      done: this.#done,
      failed: this.#lost.size,
      fault: this.#fault,
      waits: this.#waits,
    };
  }

  /** Ends the runs in progress; `go` takes the study up again. */
  pause(): void {
    this.#abort?.abort();
    this.#abort = null;
  }

  /** Sets what the study is about. Runs of the same scenario with other limits are kept. */
  about(subject: Subject, targets: Target[]): void {
    const key = keyOf(subject);
    this.#targets = targets;
    if (!this.#subject || keyOf(this.#subject) !== key) {
      this.pause();
      this.#known = this.#recall(key);
      this.#lost = new Set();
      this.#fault = "";
      this.#wanted = false;
    }
    this.#subject = subject;
    const next = this.#plan(subject);
    this.#done = next?.tasks.length === 0;
    this.#onChange();
  }

  /** Starts or goes on, unless a run is expected to take long and nobody asked for it.
   *
   * @param runMs - Time that a run is expected to take; null if somebody asked for the study.
   */
  go(runMs: number | null): void {
    this.#wanted ||= runMs === null;
    this.#waits = !this.#wanted && (runMs ?? 0) > LONG_RUN_MS;
    if (!this.#subject || this.#abort || this.#waits) {
      this.#onChange();
      return;
    }
    const abort = new AbortController();
    this.#abort = abort;
    void this.#work(this.#subject, abort.signal).finally(() => {
      if (this.#abort === abort) this.#abort = null;
      this.#onChange();
    });
    this.#onChange();
  }

  async #work(first: Subject, signal: AbortSignal): Promise<void> {
    await this.#findSmallest(first);
    while (!signal.aborted) {
      // Another limit of the same scenario may be asked for meanwhile.
      const subject = this.#subject ?? first;
      const next = this.#plan(subject)?.tasks ?? [];
      const tasks = next.filter((task) => !this.#lost.has(nameOf(task)));
      this.#done = tasks.length === 0;
      if (this.#done) return;
      await Promise.all(tasks.map((task) => this.#run(subject, task, signal)));
    }
  }

  /** What comes next; null while the smallest buffer is not known. */
  #plan({ axis, largest, effort = WHOLE }: Subject): Plan | null {
    const { points, smallest } = this.#known;
    const next =
      smallest === null
        ? null
        : plan(
            points,
            rangeIn(
              axis.unit === "us" || axis.unit === "alpha" ? "packets" : axis.unit,
              smallest,
              largest,
            ),
            this.#targets,
            this.#wantedOf(effort, smallest),
          );
    this.#search = next?.search ?? null;
    return next;
  }

  async #findSmallest(subject: Subject): Promise<void> {
    const known = this.#known;
    if (known.smallest !== null) return;
    const questionAt = (limit: number): Question => questionOf(studyText(subject, limit));
    const { smallest, largest } = subject;
    try {
      known.smallest = smallest ?? (await smallestAccepted(this.#engine, questionAt, largest));
    } catch (error) {
      if (known === this.#known) this.#lose("range", error);
    }
  }

  /** The effort without buffers that the queue refuses: no curve waits for what failed. */
  #wantedOf({ also, curve }: Effort, smallest: number): Effort {
    const lost = new Set([...this.#lost].map((name) => Number(name.split(" ")[0])));
    return {
      also: also.filter((limit) => limit >= smallest),
      curve: curve && { ...curve, lost },
    };
  }

  #lose(name: string, error: unknown): void {
    this.#lost.add(name);
    this.#fault = error instanceof Error ? error.message : String(error);
  }

  async #run(subject: Subject, task: Task, signal: AbortSignal): Promise<void> {
    const text = studyText(subject, task.limit);
    const question = { ...questionOf(text), seed: seedOf(subject, task) };
    const { points } = this.#known;
    try {
      const answer = await this.#engine.run(question, { signal, priority: this.#priority });
      const point = pointAt(points, task.limit);
      point.set(task.seed, measure(answer.summary, subject.link));
      points.set(task.limit, point);
    } catch (error) {
      if (isAbort(error)) return;
      this.#lose(nameOf(task), error);
    }
    if (points === this.#known.points) this.#onChange();
  }

  /** The points of a study that was begun before; the least recent one is forgotten. */
  #recall(key: string): Known {
    const known = this.#remembered.get(key) ?? { points: new Map<number, Point>(), smallest: null };
    this.#remembered.delete(key);
    this.#remembered.set(key, known);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MOST_REMEMBERED && oldest !== undefined) {
      this.#remembered.delete(oldest);
    }
    return known;
  }
}

export function seedOf(subject: Pick<Subject, "seed">, { limit, seed }: Task): bigint {
  return BigInt.asUintN(64, subject.seed + BigInt(SEEDS_APART * limit + seed));
}

function nameOf(task: Task): string {
  return `${task.limit} ${task.seed}`;
}

/** What makes two studies the same: everything but the limit. */
function keyOf(subject: Subject): string {
  const text = studyText(subject, 1);
  return JSON.stringify([text, subject.link, subject.largest, String(subject.seed)]);
}
