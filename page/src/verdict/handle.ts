/** A number in a sentence that can be typed over, dragged, and moved with the arrow keys. */

import { make } from "../dom";

/** Pixels that the pointer moves before it drags. */
const SLACK = 4;
/** Steps of the arrow keys and of Page Up and Page Down. */
const KEYS: Record<string, number> = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
const PIXELS_PER_KEY = 8;

export class Handle {
  readonly element: HTMLInputElement;

  /**
   * @param onText - Takes what was typed; returns what is wrong with it, or nothing.
   * @param onStep - Moves the number by so many steps.
   */
  constructor(label: string, onText: (text: string) => string, onStep: (steps: number) => void) {
    const input = make("input", {
      type: "text",
      class: "handle",
      autocomplete: "off",
      "aria-label": label,
      title: `${label}: type, drag, or use the arrow keys`,
    });
    this.element = input;
    input.addEventListener("change", () => {
      const typed = input.value;
      input.defaultValue = typed;
      const wrong = onText(typed);
      input.setCustomValidity(wrong);
      if (!wrong) return;
      // A wrong text stays until it is typed over or left.
      input.defaultValue = "";
      input.setAttribute("aria-invalid", "true");
      input.reportValidity();
    });
    input.addEventListener("input", () => input.setCustomValidity(""));
    input.addEventListener("keydown", (event) => {
      const steps = KEYS[event.key];
      if (steps === undefined) return;
      event.preventDefault();
      input.blur();
      onStep(steps);
      input.focus();
    });
    this.#drags(onStep);
  }

  show(text: string): void {
    const input = this.element;
    if (document.activeElement === input && input.value !== input.defaultValue) return;
    input.value = input.defaultValue = text;
    input.removeAttribute("aria-invalid");
    input.size = Math.max(3, text.length);
  }

  #drags(onStep: (steps: number) => void): void {
    const input = this.element;
    let from: number | null = null;
    let isDragging = false;
    input.addEventListener("pointerdown", (event) => {
      from = event.clientX;
      isDragging = false;
    });
    input.addEventListener("pointermove", (event) => {
      if (from === null || event.buttons === 0) return;
      const moved = event.clientX - from;
      if (!isDragging && Math.abs(moved) < SLACK) return;
      isDragging = true;
      input.setPointerCapture(event.pointerId);
      const steps = Math.trunc(moved / PIXELS_PER_KEY);
      if (steps === 0) return;
      from += steps * PIXELS_PER_KEY;
      input.blur();
      onStep(steps);
    });
    input.addEventListener("pointerup", () => (from = null));
  }
}
