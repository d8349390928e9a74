/** The slider of the buffer: logarithmic, from the smallest limit that the queue accepts to four
 * bandwidth-delay products. */

import { make } from "../dom";
import { limitPackets, type Bottleneck } from "../rules/bottleneck";
import { limitTexts, type BufferRange } from "../rules/buffer_units";

const STEPS = 1000;
const MOST_BDP = 4;

/** Largest limit of slider and study, in packets. */
export function largestLimit(link: Bottleneck): number {
  const bdp = link.bdp_packets;
  const most = bdp > 0 ? MOST_BDP * bdp : 8 * limitPackets(link);
  return Math.max(8, Math.ceil(Number.isFinite(most) ? most : 1000));
}

export function limitAt(step: number, { smallest, largest }: BufferRange): number {
  return Math.round(smallest * (largest / smallest) ** (step / STEPS));
}

export function stepOf(limit: number, { smallest, largest }: BufferRange): number {
  const place = Math.log(Math.max(1, limit / smallest)) / Math.log(largest / smallest);
  return Math.round(STEPS * Math.min(1, place));
}

export class BufferSlider {
  readonly #input: HTMLInputElement;
  readonly #title: HTMLElement;
  readonly #values: HTMLElement;
  #link: Bottleneck | null = null;
  #smallest = 1;

  constructor(host: HTMLElement, onLimit: (packets: number) => void) {
    this.#title = make("span", {}, "Buffer");
    this.#input = make("input", {
      id: "buffer",
      type: "range",
      min: "0",
      max: String(STEPS),
      step: "1",
      input: () => {
        if (!this.#link) return;
        const limit = limitAt(Number(this.#input.value), this.#range(this.#link));
        this.#say(limit);
        onLimit(limit);
      },
    });
    this.#values = make("output", { for: "buffer", class: "readout" });
    host.append(make("label", { for: "buffer" }, this.#title), this.#input, this.#values);
  }

  show(link: Bottleneck): void {
    this.#link = link;
    const limit = limitPackets(link);
    this.#title.textContent = `Buffer of ${link.name}`;
    if (
      document.activeElement !== this.#input ||
      limitAt(Number(this.#input.value), this.#range(link)) !== Math.round(limit)
    ) {
      this.#input.value = String(stepOf(limit, this.#range(link)));
    }
    this.#say(limit);
  }

  /** Moves the slider by so many hundredths of its length. */
  step(hundredths: number): void {
    this.#input.value = String(Number(this.#input.value) + (hundredths * STEPS) / 100);
    this.#input.dispatchEvent(new Event("input"));
  }

  /** Sets the lower end of the slider, once it is known. */
  beginAt(smallest: number): void {
    if (smallest === this.#smallest || !this.#link) return;
    const limit = limitAt(Number(this.#input.value), this.#range(this.#link));
    this.#smallest = smallest;
    this.#input.value = String(stepOf(limit, this.#range(this.#link)));
  }

  #range(link: Bottleneck): BufferRange {
    return { smallest: this.#smallest, largest: Math.max(this.#smallest + 1, largestLimit(link)) };
  }

  #say(limit: number): void {
    if (!this.#link) return;
    const texts = limitTexts(this.#link, limit);
    this.#values.textContent = texts.join(" · ");
    this.#input.setAttribute("aria-valuetext", texts.join(", "));
  }
}
