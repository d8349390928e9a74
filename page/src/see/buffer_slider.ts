/** The slider of the buffer: logarithmic, from the smallest limit that the queue accepts to four
 * bandwidth-delay products, to twice the scenario's limit, or to the memory of a pool. */

import { make } from "../dom";
import { converted, type Bottleneck } from "../rules/bottleneck";
import { limitTexts, rangeIn, within, type BufferRange } from "../rules/buffer_units";
import { isLimitedByPool, queueKey, type Place } from "../scenario/place";
import type { Reading } from "../scenario/reading";
import { bytesOf } from "../scenario/quantities";
import { valueAt, type Table } from "../scenario/text";
import { limitAxis, withValue } from "../study/axis";

const STEPS = 1000;
const MOST_BDP = 4;
const FEWEST = 8;
/** Largest limit of a link whose flows are all short, in packets, and of the ports of a switch, whose
 * buffers are for bursts. It does not depend on the limit, so that it does not move with the slider. */
const MOST_OF_BURSTS = 1000;

/** A limit may be so many times the largest threshold, which lies below it. */
const MOST_THRESHOLDS = 4;

/** Largest limit of slider and study, in steps of the link's unit.
 *
 * @param scenario - The scenario with its defaults.
 */
export function largestLimit(link: Bottleneck, place: Place, scenario: Table): number {
  const { unit, steps } = link.buffer;
  const size = place.pool && valueAt(scenario, [...place.pool, "size"]);
  const inSteps = (packets: number): number =>
    Math.ceil(converted(link, packets, "packets", unit) * (1 - 1e-12));
  if (typeof size === "string") {
    const memory = converted(link, bytesOf(size), "B", unit);
    return Math.max(inSteps(FEWEST), Math.floor(memory * (1 + 1e-12)));
  }
  const twice = Number.isFinite(steps) ? 2 * steps : 0;
  return Math.max(inSteps(mostPackets(link, place)), twice);
}

/** Largest number of packets that is of interest, whatever the limit is. */
function mostPackets(link: Bottleneck, { table }: Place): number {
  const most = MOST_BDP * link.bdp_packets;
  const isForBursts = most === 0 || table[0] !== "links";
  const thresholds = Object.entries(link.amounts_packets).filter(([name]) => name !== "limit");
  const least = Math.max(0, ...thresholds.map(([, packets]) => MOST_THRESHOLDS * packets));
  return Math.max(FEWEST, Math.ceil(most), Math.ceil(least), isForBursts ? MOST_OF_BURSTS : 0);
}

/** Remembers the largest limit of a scenario, so that it does not move with the slider. */
export class Largest {
  #key = "";
  #largest = 0;

  of(
    { text, scenario }: Pick<Reading, "text" | "scenario">,
    link: Bottleneck,
    place: Place,
  ): number {
    const { unit, steps } = link.buffer;
    // The scenario with any other limit.
    const key = link.name + withValue(text, queueKey(place), limitAxis(unit), 1);
    if (key !== this.#key || steps > this.#largest) {
      this.#key = key;
      this.#largest = largestLimit(link, place, scenario);
    }
    return this.#largest;
  }
}

export function limitAt(step: number, range: BufferRange): number {
  const { smallest, largest } = range;
  return within(range, smallest * (largest / smallest) ** (step / STEPS));
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
  /** The limit that the slider was given, to which its step leads back. */
  #given = Number.NaN;
  #smallest = 1;
  #largest = 1;

  constructor(host: HTMLElement, onLimit: (steps: number) => void) {
    this.#title = make("span", {}, "Buffer");
    this.#input = make("input", {
      id: "buffer",
      type: "range",
      min: "0",
      max: String(STEPS),
      step: "1",
      input: () => {
        if (!this.#link) return;
        const limit = this.#limit();
        this.#say(limit);
        onLimit(limit);
      },
    });
    this.#values = make("output", { for: "buffer", class: "readout" });
    host.append(make("label", { for: "buffer" }, this.#title), this.#input, this.#values);
    host.append(this.#note);
  }

  show(link: Bottleneck, place: Place, { text }: Pick<Reading, "text">, largest: number): void {
    this.#link = link;
    this.#largest = largest;
    this.#note.textContent = noteText(link, place, text);
    this.#note.hidden = this.#note.textContent === "";
    const limit = link.buffer.steps;
    const name = place.words === link.name ? `“${link.name}”` : place.words;
    this.#title.textContent = `Buffer of ${name}`;
    if (this.#limit() !== limit) {
      this.#given = limit;
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
    const limit = this.#limit();
    this.#smallest = smallest;
    this.#input.value = String(stepOf(limit, this.#range()));
  }

  #limit(): number {
    const step = Number(this.#input.value);
    return step === stepOf(this.#given, this.#range()) ? this.#given : limitAt(step, this.#range());
  }

  #range(): BufferRange {
    const largest = Math.max(this.#smallest + 1, this.#largest);
    return rangeIn(this.#link?.buffer.unit ?? "packets", this.#smallest, largest);
  }

  #say(limit: number): void {
    if (!this.#link) return;
    const texts = limitTexts(this.#link, limit);
    this.#values.textContent = texts.join(" · ");
    this.#input.setAttribute("aria-valuetext", texts.join(", "));
  }
}
