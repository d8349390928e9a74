/** The fields of the targets. */

import { labelled, make } from "../dom";
import { plain, QuantityError, readNumber, readPercent } from "../scenario/quantities";
import { LARGEST_TARGETS, type Targets } from "../state";

interface TargetField {
  key: keyof Targets;
  label: string;
  read: (text: string) => number;
  shown: (value: number) => string;
}

const FIELDS: TargetField[] = [
  {
    key: "utilization",
    label: "Utilization at least (%)",
    read: readPercent,
    shown: (value) => plain(100 * value, 6),
  },
  {
    key: "delayS",
    label: "99 % of packets wait at most (ms)",
    read: (text) => readNumber(text.replace(/ms\s*$/, "")) / 1000,
    shown: (value) => plain(1000 * value, 6),
  },
  {
    key: "loss",
    label: "Loss at most (%)",
    read: readPercent,
    shown: (value) => plain(100 * value, 6),
  },
];

export class TargetFields {
  readonly #inputs = new Map<keyof Targets, HTMLInputElement>();

  constructor(host: HTMLElement, onTargets: (targets: Partial<Targets>) => void) {
    const fields = FIELDS.map((field) => {
      const input = make("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
      const complaint = make("p", { class: "complaint", hidden: true });
      this.#inputs.set(field.key, input);
      input.addEventListener("change", () => {
        const said = read(field, input.value);
        complaint.textContent = typeof said === "string" ? said : "";
        complaint.hidden = typeof said !== "string";
        if (typeof said === "string") input.setAttribute("aria-invalid", "true");
        else {
          input.removeAttribute("aria-invalid");
          onTargets({ [field.key]: said });
        }
      });
      return labelled(field.label, input, complaint);
    });
    host.append(make("fieldset", {}, make("legend", {}, "Targets"), ...fields));
  }

  show(targets: Targets): void {
    for (const { key, shown } of FIELDS) {
      const [input, value] = [this.#inputs.get(key), targets[key]];
      if (input && document.activeElement !== input) {
        input.value = value === null ? "" : shown(value);
      }
    }
  }
}

/** The bound, null for no target, or what is wrong with the text. */
function read(field: TargetField, text: string): number | null | string {
  if (text.trim() === "") return null;
  try {
    const bound = field.read(text);
    return bound >= 0 && bound <= LARGEST_TARGETS[field.key]
      ? bound
      : "give a number from 0 to 100";
  } catch (error) {
    if (error instanceof QuantityError) return error.message;
    throw error;
  }
}
