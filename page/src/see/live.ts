/** The run that follows the slider: the newest question is simulated, older ones are cancelled. */

import { isAbort, type Answer, type Progress, type Question } from "../engine/engine";
import type { Engine } from "../engine/pool";

/** Above every run of a study. */
export const LIVE_PRIORITY = 10;

/** A run is left this time for its first picture before the next question cancels it.
 *
 * Without it, a slider in motion would show nothing: every movement would cancel the run before.
 */
const GRACE_MS = 60;

export interface LiveEvents {
  onProgress: (progress: Progress) => void;
  onAnswer: (answer: Answer, latencyMs: number) => void;
  onFault: (error: unknown) => void;
}

export class Live {
  readonly #engine: Engine;
  readonly #events: LiveEvents;
  #next: { question: Question; at: number } | null = null;
  #running: { abort: AbortController; since: number } | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(engine: Engine, events: LiveEvents) {
    this.#engine = engine;
    this.#events = events;
  }

  /** Whether a run is in progress or about to begin. */
  get busy(): boolean {
    return this.#running !== null || this.#next !== null;
  }

  ask(question: Question): void {
    this.#next = { question, at: performance.now() };
    if (!this.#running) void this.#begin();
    else {
      clearTimeout(this.#timer);
      const rest = this.#running.since + GRACE_MS - performance.now();
      this.#timer = setTimeout(() => this.#running?.abort.abort(), Math.max(0, rest));
    }
  }

  async #begin(): Promise<void> {
    const next = this.#next;
    if (!next) return;
    this.#next = null;
    const abort = new AbortController();
    this.#running = { abort, since: performance.now() };
    try {
      const answer = await this.#engine.run(next.question, {
        signal: abort.signal,
        priority: LIVE_PRIORITY,
        onProgress: (progress) => {
          if (!abort.signal.aborted) this.#events.onProgress(progress);
        },
      });
      this.#running = null;
      this.#events.onAnswer(answer, performance.now() - next.at);
    } catch (error) {
      this.#running = null;
      // The problems of a text that changed meanwhile are old.
      if (!isAbort(error) && !this.busy) this.#events.onFault(error);
    }
    clearTimeout(this.#timer);
    void this.#begin();
  }
}
