/** Work that many events ask for, done at once for the first, and for the others as often as it is cheap. */

/** Share of the time that the work may take. */
const SHARE = 0.05;

export class Paced {
  readonly #work: () => void;
  readonly #restMs: () => number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the work may be done again. */
  #next = 0;

  /** @param restMs - Least time from the end of the work until it is done again. */
  constructor(work: () => void, restMs: () => number) {
    [this.#work, this.#restMs] = [work, restMs];
  }

  /** Does the work now, or once enough time has passed. */
  soon(): void {
    if (this.#timer !== undefined) return;
    const rest = this.#next - performance.now();
    if (rest <= 0) this.now();
    else this.#timer = setTimeout(() => this.now(), rest);
  }

  /** Does the work now, also for those who asked for it soon. */
  now(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const began = performance.now();
    this.#work();
    const ended = performance.now();
    this.#next = ended + Math.max(this.#restMs(), (ended - began) / SHARE);
  }
}
