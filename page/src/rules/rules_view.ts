/** The rules of the literature on the page, and as marks in the pictures. */

import { make } from "../dom";
import type { Mark } from "../pictures/picture";
import { packets } from "../scenario/quantities";
import type { Advice } from "./rules";

/** A mark per rule that applies; grey if an assumption fails. */
export function ruleMarks(advice: Advice[]): Mark[] {
  return advice.flatMap(({ rule, packets: at, assumptions }) => {
    if (at === null || !Number.isFinite(at)) return [];
    const holds = assumptions.every((assumption) => assumption.holds);
    return [
      { axis: "x", at: Math.max(1, at), label: rule.short, kind: holds ? "rule" : "failing" },
    ];
  });
}

export class RulesView {
  readonly #list = make("ul", { class: "rules" });

  constructor(host: HTMLElement) {
    const note = make(
      "p",
      { class: "quiet" },
      "Marks in the pictures above; grey if an assumption of the rule fails here.",
    );
    host.append(make("h3", {}, "Rules of the literature"), note, this.#list);
  }

  show(advice: Advice[]): void {
    const applying = advice.filter((one) => one.packets !== null);
    const others = advice.filter((one) => one.packets === null);
    this.#list.replaceChildren(...applying.map(entry), ...others.map(entry));
  }
}

function entry({ rule, packets: at, words, assumptions }: Advice): HTMLElement {
  const failing = assumptions.filter((assumption) => !assumption.holds);
  const isPale = at === null || failing.length > 0;
  const required =
    at === null
      ? `does not apply: ${words}`
      : `${Number.isFinite(at) ? packets(at) : "no buffer suffices"} for ${words}`;
  const title = make("strong", {}, rule.title);
  const source = make("span", { class: "quiet" }, ` (${rule.source})`);
  const why = failing.map(({ statement, found }) =>
    make("li", {}, `fails: ${statement}${found ? ` (here: ${found})` : ""}`),
  );
  return make(
    "li",
    { class: isPale ? "failing" : "" },
    title,
    `: ${required}`,
    source,
    why.length > 0 ? make("ul", {}, ...why) : null,
  );
}
