/** Fields of the form: each shows a key of the scenario, and changes it in the text. */

import { labelled, make } from "../dom";
import type { Component, Problem } from "../engine/engine";
import { QuantityError, readInteger, readNumber, withPoint } from "../scenario/quantities";
import { inlineToml, pathText, valueAt, type Table } from "../scenario/text";

/** Replaces the value at a path by a value in TOML. */
export type Edit = (path: string[], value: string) => void;

export interface Field {
  element: HTMLElement;
  /** Shows the value of a scenario with its defaults filled in. */
  show: (scenario: Table) => void;
  /** Shows the problem of this field's key, or none. */
  complain: (problems: Problem[]) => void;
}

/** A value as a field shows it: `20 ms`, `20 ms to 40 ms`, `auto`, or TOML for anything else. */
export function valueShown(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null) {
    const { uniform } = value as { uniform?: unknown };
    if (Array.isArray(uniform) && Object.keys(value).length === 1) {
      return `${String(uniform[0])} to ${String(uniform[1])}`;
    }
    return inlineToml(value);
  }
  return value === undefined ? "" : inlineToml(value);
}

/** The TOML of what is written in a field.
 *
 * @throws QuantityError if a comma may mean two things.
 */
export function quantityWritten(text: string): string {
  const trimmed = text.trim();
  if (/^[{[]/.test(trimmed)) return trimmed;
  const range = /^(.*\S)\s+to\s+(\S.*)$/.exec(trimmed);
  if (!range) return JSON.stringify(withPoint(trimmed));
  const ends = [range[1] ?? "", range[2] ?? ""].map((end) => JSON.stringify(withPoint(end)));
  return `{ uniform = [${ends.join(", ")}] }`;
}

/** The TOML of a number, or of a word that stands in its place, such as `auto`.
 *
 * @throws QuantityError if the text is neither.
 */
export function numberOrWordWritten(text: string): string {
  const [, word] = /^\s*"?([A-Za-z_]+)"?\s*$/.exec(text) ?? [];
  return word === undefined ? String(readNumber(text)) : JSON.stringify(word);
}

/** The part of a field that says what is wrong. */
class Complaint {
  readonly element = make("p", { class: "complaint", hidden: true });
  readonly #control: HTMLElement;
  readonly #key: string;

  constructor(control: HTMLElement, path: string[]) {
    this.#control = control;
    this.#key = pathText(path);
    this.element.id = `problem-${this.#key}`;
    control.setAttribute("aria-describedby", this.element.id);
  }

  say(text: string): void {
    this.element.textContent = text;
    this.element.hidden = text === "";
    if (text) this.#control.setAttribute("aria-invalid", "true");
    else this.#control.removeAttribute("aria-invalid");
  }

  of(problems: Problem[]): void {
    const own = problems.find(
      (problem) => problem.key === this.#key || problem.key.startsWith(`${this.#key}.`),
    );
    this.say(own ? [own.problem, own.remedy].filter(Boolean).join("; ") : "");
  }
}

function textField(
  label: string,
  path: string[],
  written: (text: string) => string,
  edit: Edit,
): Field {
  const input = make("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  const complaint = new Complaint(input, path);
  input.addEventListener("change", () => {
    try {
      edit(path, written(input.value));
      complaint.say("");
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
      complaint.say(error.message);
    }
  });
  const element = labelled(label, input, complaint.element);
  return {
    element,
    show: (scenario) => {
      const value = valueShown(valueAt(scenario, path));
      if (input.value !== value) input.value = value;
    },
    complain: (problems) => complaint.of(problems),
  };
}

export function quantityField(label: string, path: string[], edit: Edit): Field {
  return textField(label, path, quantityWritten, edit);
}

/** A rate, also as people write it on the command line: "10G". */
export function rateField(label: string, path: string[], edit: Edit): Field {
  return textField(label, path, (text) => quantityWritten(withRateUnit(text)), edit);
}

/** Returns "10 Gbit/s" for "10G", and any other text as it is. */
export function withRateUnit(text: string): string {
  const [, number, prefix = ""] = /^\s*([\d.,]+)\s*([kmgt])\s*$/i.exec(text) ?? [];
  const unit = prefix.toLowerCase() === "k" ? "k" : prefix.toUpperCase();
  return number === undefined ? text : `${number} ${unit}bit/s`;
}

export function numberField(label: string, path: string[], edit: Edit): Field {
  const field = textField(label, path, (text) => String(readNumber(text)), edit);
  field.element.querySelector("input")?.setAttribute("inputmode", "decimal");
  return field;
}

/** A number, or a word in its place: no keyboard of digits alone. */
export function numberOrWordField(label: string, path: string[], edit: Edit): Field {
  return textField(label, path, numberOrWordWritten, edit);
}

/** A whole number, exactly as it is written. */
export function integerField(label: string, path: string[], edit: Edit): Field {
  const field = textField(label, path, (text) => String(readInteger(text)), edit);
  field.element.querySelector("input")?.setAttribute("inputmode", "numeric");
  return field;
}

export function checkField(label: string, path: string[], edit: Edit): Field {
  const input = make("input", { type: "checkbox" });
  input.addEventListener("change", () => edit(path, String(input.checked)));
  const complaint = new Complaint(input, path);
  const element = labelled(label, input, complaint.element);
  element.classList.add("check");
  return {
    element,
    show: (scenario) => {
      input.checked = valueAt(scenario, path) === true;
    },
    complain: (problems) => complaint.of(problems),
  };
}

/** The kind of a component; `valueOf` gives the TOML for a kind, from the scenario shown last. */
export function kindField(
  label: string,
  path: string[],
  kinds: Component[],
  valueOf: (kind: string, scenario: Table) => string,
  edit: Edit,
): Field {
  const options = kinds.map(({ kind, doc }) => make("option", { value: kind, title: doc }, kind));
  const select = make("select", {}, ...options);
  const complaint = new Complaint(select, path);
  let last: Table = {};
  const describe = (): void => {
    select.title = kinds.find(({ kind }) => kind === select.value)?.doc ?? "";
  };
  select.addEventListener("change", () => {
    describe();
    edit(path, valueOf(select.value, last));
  });
  return {
    element: labelled(label, select, complaint.element),
    show: (scenario) => {
      last = scenario;
      const kind = valueAt(scenario, [...path, "kind"]);
      select.value = typeof kind === "string" ? kind : "";
      describe();
    },
    complain: (problems) => complaint.of(problems),
  };
}
