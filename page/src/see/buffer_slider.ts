/** The slider of the buffer: logarithmic, from the smallest limit that the queue accepts to four
 * bandwidth-delay products, or to the memory of a pool. */

import { make } from "../dom";
import { limitPackets, type Bottleneck } from "../rules/bottleneck";
import { limitTexts, wholePackets, type BufferRange } from "../rules/buffer_units";
import { isLimitedByPool, type Place } from "../scenario/place";
import type { Reading } from "../scenario/reading";
import { bytesOf } from "../scenario/quantities";
import { valueAt, type Table } from "../scenario/text";

const STEPS = 1000;
const MOST_BDP = 4;
/** Largest limit of a link whose flows are all short, in packets, and of the ports of a switch, whose
 * buffers are for bursts. It does not depend on the limit, so that it does not move with the slider. */
const MOST_OF_BURSTS = 1000;

/** A limit may be so many times the largest threshold, which lies below it. */
const MOST_THRESHOLDS = 4;

/** Largest limit of slider and study, in packets.
 *
 * @param scenario - The scenario with its defaults.
 */
export function largestLimit(link: Bottleneck, { table, pool }: Place, scenario: Table): number {
  const size = pool && valueAt(scenario, [...pool, "size"]);
  if (typeof size === "string") return Math.max(8, wholePackets(bytesOf(size) / link.packet_bytes));
  const most = MOST_BDP * link.bdp_packets;
  const isForBursts = most === 0 || table[0] !== "links";
  const thresholds = Object.entries(link.amounts_packets).filter(([name]) => name !== "limit");
  const least = Math.max(0, ...thresholds.map(([, packets]) => MOST_THRESHOLDS * packets));
  return Math.max(8, Math.ceil(most), Math.ceil(least), isForBursts ? MOST_OF_BURSTS : 0);
}

export function limitAt(step: number, { smallest, largest }: BufferRange): number {
  return Math.round(smallest * (largest / smallest) ** (step / STEPS));
}

export function stepOf(limit: number, { smallest, largest }: BufferRange): number {
  const place = Math.log(Math.max(1, limit / smallest)) / Math.log(largest / smallest);
  return Math.round(STEPS * Math.min(1, place));
}

/** What the slider varies, where that is more or less than the buffer of one link. */
function noteText({ name }: Bottleneck, place: Place, text: string): string {
  const { words, pool } = place;
  const isOfOthers = words !== name;
  if (pool === null) {
    return isOfOthers ? `The slider sets the limit of ${words}; what is shown is ${name}.` : "";
  }
  const memory = `the memory of the pool ${pool[1]}`;
  const limits = `The slider limits ${isOfOthers ? `the queue of ${words}` : "this queue"} within it`;
  const now = isLimitedByPool(text, place)
    ? `Other queues share ${memory}, which is the only limit now. ${limits}`
    : `Other queues share ${memory}. ${limits}`;
  return `${now}; the pool's size and alpha are in the form.`;
}

export class BufferSlider {
  readonly #input: HTMLInputElement;
  readonly #title: HTMLElement;
  readonly #values: HTMLElement;
  readonly #note = make("p", { class: "quiet", hidden: true });
  #link: Bottleneck | null = null;
  #smallest = 1;
  #largest = 1;

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
        const limit = limitAt(Number(this.#input.value), this.#range());
        this.#say(limit);
        onLimit(limit);
      },
    });
    this.#values = make("output", { for: "buffer", class: "readout" });
    host.append(make("label", { for: "buffer" }, this.#title), this.#input, this.#values);
    host.append(this.#note);
  }

  show(
    link: Bottleneck,
    place: Place,
    { text, scenario }: Pick<Reading, "text" | "scenario">,
  ): void {
    this.#link = link;
    this.#largest = largestLimit(link, place, scenario);
    this.#note.textContent = noteText(link, place, text);
    this.#note.hidden = this.#note.textContent === "";
    const limit = limitPackets(link);
    const name = place.words === link.name ? `“${link.name}”` : place.words;
    this.#title.textContent = `Buffer of ${name}`;
    if (
      document.activeElement !== this.#input ||
      limitAt(Number(this.#input.value), this.#range()) !== Math.round(limit)
    ) {
      this.#input.value = String(stepOf(limit, this.#range()));
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
    const limit = limitAt(Number(this.#input.value), this.#range());
    this.#smallest = smallest;
    this.#input.value = String(stepOf(limit, this.#range()));
  }

  #range(): BufferRange {
    return { smallest: this.#smallest, largest: Math.max(this.#smallest + 1, this.#largest) };
  }

  #say(limit: number): void {
    if (!this.#link) return;
    const texts = limitTexts(this.#link, limit);
    this.#values.textContent = texts.join(" · ");
    this.#input.setAttribute("aria-valuetext", texts.join(", "));
  }
}
