/** A waiting line for a fixed number of slots; jobs of a higher priority go first. */

import { aborted } from "./engine";

interface Waiting<Slot> {
  priority: number;
  begin: (slot: Slot) => void;
}

export class Slots<Slot> {
  readonly #free: Slot[];
  readonly #waiting: Waiting<Slot>[] = [];

  constructor(slots: Slot[]) {
    this.#free = [...slots];
  }

  /** Waits for a slot, does the job in it, and frees the slot that the job returns. */
  async use<T>(priority: number, signal: AbortSignal, job: (slot: Slot) => Promise<T>): Promise<T> {
    const slot = await this.#take(priority, signal);
    try {
      signal.throwIfAborted();
      return await job(slot);
    } finally {
      this.#give(slot);
    }
  }

  #take(priority: number, signal: AbortSignal): Promise<Slot> {
    if (signal.aborted) return Promise.reject(aborted());
    const slot = this.#free.pop();
    if (slot !== undefined) return Promise.resolve(slot);
    return new Promise((begin, fail) => {
      const waiting = { priority, begin };
      const place = this.#waiting.findIndex((other) => other.priority < priority);
      this.#waiting.splice(place < 0 ? this.#waiting.length : place, 0, waiting);
      signal.addEventListener(
        "abort",
        () => {
          const at = this.#waiting.indexOf(waiting);
          if (at < 0) return;
          this.#waiting.splice(at, 1);
          fail(aborted());
        },
        { once: true },
      );
    });
  }

  #give(slot: Slot): void {
    const next = this.#waiting.shift();
    if (next) next.begin(slot);
    else this.#free.push(slot);
  }
}
