/** The slider of the buffer: logarithmic, from one packet to four bandwidth-delay products. */

import { make } from "../dom";
import { bdpPackets, capacityPps, limitPackets, type Bottleneck } from "../rules/bottleneck";
import { bytes, duration, packets, plain } from "../scenario/quantities";

const STEPS = 1000;
const MOST_BDP = 4;

/** Largest limit of slider and study, in packets. */
export function largestLimit(link: Bottleneck): number {
  const bdp = bdpPackets(link);
  const most = bdp > 0 ? MOST_BDP * bdp : 8 * limitPackets(link);
  return Math.max(8, Math.ceil(Number.isFinite(most) ? most : 1000));
}

export function limitAt(step: number, largest: number): number {
  return Math.round(largest ** (step / STEPS));
}

export function stepOf(limit: number, largest: number): number {
  return Math.round((STEPS * Math.log(Math.max(1, limit))) / Math.log(largest));
}

export class BufferSlider {
  readonly #input: HTMLInputElement;
  readonly #title: HTMLElement;
  readonly #values: HTMLElement;
  #link: Bottleneck | null = null;

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
        const limit = limitAt(Number(this.#input.value), largestLimit(this.#link));
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
      limitAt(Number(this.#input.value), largestLimit(link)) !== Math.round(limit)
    ) {
      this.#input.value = String(stepOf(limit, largestLimit(link)));
    }
    this.#say(limit);
  }

  #say(limit: number): void {
    if (!this.#link) return;
    const texts = limitTexts(this.#link, limit);
    this.#values.textContent = texts.join(" · ");
    this.#input.setAttribute("aria-valuetext", texts.join(", "));
  }
}

/** A limit in packets, bytes, time and bandwidth-delay products. */
export function limitTexts(link: Bottleneck, limit: number): string[] {
  const bdp = bdpPackets(link);
  return [
    packets(limit),
    bytes(limit * link.packetBytes),
    duration(limit / capacityPps(link)),
    ...(bdp > 0 ? [`${plain(limit / bdp)} BDP`] : []),
  ];
}
