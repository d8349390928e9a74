/** The scenario as TOML, with line numbers and the engine's messages at the line. */

import { make } from "../dom";
import { problemText, type Problem } from "../engine/engine";

const PAUSE_MS = 250;

export class Editor {
  readonly #area: HTMLTextAreaElement;
  readonly #details: HTMLDetailsElement;
  readonly #numbers = make("div");
  readonly #gutter = make("pre", { class: "gutter", "aria-hidden": "true" }, this.#numbers);
  readonly #problems = make("ul", { class: "problems", id: "problems" });
  #timer: ReturnType<typeof setTimeout> | undefined;
  #faulty = new Set<number>();
  #lines = 1;

  constructor(host: HTMLElement, onText: (text: string) => void) {
    this.#area = make("textarea", {
      id: "text",
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      wrap: "off",
      rows: "24",
      "aria-describedby": "problems",
    });
    this.#area.addEventListener("input", () => {
      this.#count();
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => onText(this.#area.value), PAUSE_MS);
    });
    this.#area.addEventListener("scroll", () => this.#number());
    new ResizeObserver(() => this.#number()).observe(this.#area);
    // On a small screen the pictures come sooner if the editor is closed.
    const isOpen = window.matchMedia("(min-width: 64rem)").matches;
    this.#details = make(
      "details",
      { open: isOpen },
      make("summary", {}, "The whole scenario, as TOML"),
      make("label", { for: "text", class: "spoken" }, "The whole scenario, as TOML"),
      make("div", { class: "editor" }, this.#gutter, this.#area),
    );
    host.append(this.#details, this.#problems);
  }

  /** Shows a text; the cursor stays if the text was written here. */
  show(text: string): void {
    if (this.#area.value === text) return;
    clearTimeout(this.#timer);
    const { selectionStart, selectionEnd, scrollTop } = this.#area;
    this.#area.value = text;
    if (document.activeElement === this.#area) {
      this.#area.setSelectionRange(selectionStart, selectionEnd);
      this.#area.scrollTop = scrollTop;
    }
    this.#count();
  }

  complain(problems: Problem[]): void {
    this.#faulty = new Set(problems.flatMap(({ line }) => (line === null ? [] : [line])));
    this.#area.toggleAttribute("aria-invalid", problems.length > 0);
    if (problems.length > 0) this.#area.setAttribute("aria-invalid", "true");
    this.#problems.replaceChildren(...problems.map((problem) => this.#entry(problem)));
    this.#number();
  }

  #entry(problem: Problem): HTMLElement {
    const { line } = problem;
    if (line === null) return make("li", {}, problemText(problem));
    const go = make("button", { type: "button", click: () => this.#goTo(line) }, `line ${line}`);
    return make("li", {}, go, ` ${problemText({ ...problem, line: null })}`);
  }

  #goTo(line: number): void {
    this.#details.open = true;
    const lines = this.#area.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((at, one) => at + one.length + 1, 0);
    this.#area.focus();
    this.#area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    const height = this.#area.scrollHeight / Math.max(1, lines.length);
    this.#area.scrollTop = Math.max(0, (line - 4) * height);
  }

  #count(): void {
    this.#lines = this.#area.value.split("\n").length;
    this.#number();
  }

  /** Numbers the lines in sight: a text may have hundreds of thousands. */
  #number(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#area;
    const { lineHeight, paddingTop } = getComputedStyle(this.#area);
    // Browsers round the height of a line, which adds up over thousands of lines.
    const height =
      scrollTop === 0
        ? parseFloat(lineHeight)
        : (scrollHeight - 2 * parseFloat(paddingTop)) / this.#lines;
    const above = Math.floor(scrollTop / height);
    const inSight = Math.min(this.#lines - above, Math.ceil(clientHeight / height) + 1);
    const numbers = Array.from({ length: Math.max(0, inSight) }, (_, place) => {
      const line = above + place + 1;
      const text = `${line}\n`;
      return this.#faulty.has(line) ? make("strong", {}, text) : text;
    });
    this.#numbers.style.marginTop = `${above * height - scrollTop}px`;
    this.#numbers.replaceChildren(...numbers);
  }
}
