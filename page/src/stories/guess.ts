/** A guess at a number: a choice between ranges, or a slider. */

import { make } from "../dom";
import { valueText, type Step } from "./story";

const STEPS = 100;

export class Guess {
  readonly element: HTMLElement;
  readonly #step: Step;
  #text = "";

  /** @param onGuess - Hears of the first guess. */
  constructor(step: Step, onGuess: () => void) {
    this.#step = step;
    const control = step.edges ? this.#choices(step.edges, onGuess) : [this.#slider(onGuess)];
    this.element = make("fieldset", { class: "guess" }, make("legend", {}, step.ask), ...control);
  }

  /** The guess in words; empty without one. */
  get text(): string {
    return this.#text;
  }

  /** The guess counts, and cannot be changed any more. */
  close(): void {
    for (const input of this.element.querySelectorAll("input")) input.disabled = true;
  }

  #choices(edges: number[], onGuess: () => void): HTMLElement[] {
    return rangesOf(this.#step.of, edges).map((text) => {
      const choose = (): void => {
        this.#text = text;
        onGuess();
      };
      const input = make("input", { type: "radio", name: "guess", change: choose });
      return make("label", { class: "choice" }, input, text);
    });
  }

  #slider(onGuess: () => void): HTMLElement {
    const shown = make("output", { class: "readout" }, "Move the slider");
    const input = make("input", {
      type: "range",
      min: "0",
      max: String(STEPS),
      value: String(STEPS / 2),
      "aria-label": this.#step.ask,
      input: () => {
        this.#text = valueText(this.#step.of, guessAt(Number(input.value) / STEPS, this.#step));
        shown.textContent = this.#text;
        input.setAttribute("aria-valuetext", this.#text);
        onGuess();
      },
    });
    return make("div", { class: "wide" }, input, shown);
  }
}

/** The ranges between edges, in words. */
export function rangesOf(metric: string, edges: number[]): string[] {
  const texts = edges.map((edge) => valueText(metric, edge));
  return [
    `less than ${texts[0] ?? ""}`,
    ...texts.slice(1).map((text, place) => `${texts[place] ?? ""} to ${text}`),
    `more than ${texts.at(-1) ?? ""}`,
  ];
}

/** The value at a place of the slider, from 0 to 1, with two digits. */
export function guessAt(place: number, { from = 0, to = 1, log = false }: Step): number {
  const value = log ? from * (to / from) ** place : from + place * (to - from);
  return Number(value.toPrecision(log ? 2 : 3));
}
