/** The rules of the literature on the page, and as marks in the pictures. */

import { make } from "../dom";
import type { Mark } from "../pictures/picture";
import { packets } from "../scenario/quantities";
import type { Advice } from "./rules";

/** Rules whose buffers differ by less than this factor share a mark. */
const SAME = 1.02;

/** A mark per rule that applies, with its number in the list; grey if an assumption fails.
 *
 * @param place - Where a number of packets is marked.
 */
export function ruleMarks(advice: Advice[], place: (packets: number) => number): Mark[] {
  const marks: Mark[] = [];
  const applying = advice.filter((one) => one.packets !== null);
  for (const [number, { short, packets: required, assumptions }] of applying.entries()) {
    if (required === null || !Number.isFinite(required)) continue;
    const key = String(number + 1);
    const at = place(Math.max(1, required));
    const kind = assumptions.every(({ holds }) => holds) ? "rule" : "failing";
    const same = marks.find(
      (mark) => mark.kind === kind && Math.max(mark.at / at, at / mark.at) < SAME,
    );
    if (same) {
      same.label += `, ${key} ${short}`;
      same.key = `${same.key}, ${key}`;
    } else marks.push({ axis: "x", at, label: `${key} ${short}`, key, kind });
  }
  return marks;
}

export class RulesView {
  readonly #list = make("ol", { class: "rules" });
  readonly #summary = make("summary", {});

  constructor(host: HTMLElement) {
    host.append(
      make("h3", {}, "Rules of the literature"),
      make("details", {}, this.#summary, this.#list),
    );
  }

  show(advice: Advice[]): void {
    const applying = advice.filter((one) => one.packets !== null);
    const holding = applying.filter(({ assumptions }) => assumptions.every(({ holds }) => holds));
    const asked = holding.map(({ short, packets: at }) => `${short}: ${packets(at ?? 0)}`);
    this.#summary.textContent =
      asked.length > 0
        ? `${asked.length} of ${advice.length} rules hold here (${asked.join("; ")}); all of them`
        : `None of ${advice.length} rules holds here with its assumptions; what each of them says`;
    const others = advice.filter((one) => one.packets === null);
    this.#list.replaceChildren(...applying.map(entry), ...others.map(entry));
  }
}

function entry({
  title: method,
  source: paper,
  packets: at,
  words,
  assumptions,
}: Advice): HTMLElement {
  const failing = assumptions.filter((assumption) => !assumption.holds);
  const isPale = at === null || failing.length > 0;
  const required =
    at === null
      ? `does not apply: ${words}`
      : `${Number.isFinite(at) ? packets(at) : "no buffer suffices"} for ${words}`;
  const title = make("strong", {}, method);
  const source = make("span", { class: "quiet" }, ` (${paper})`);
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
