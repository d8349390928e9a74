/** Texts of stories: [terms] that the glossary explains, and {numbers} of runs. */

import glossary from "../../../docs/glossary.md?raw";
import { make } from "../dom";

/** Terms of the documentation's glossary, and what they mean. */
const MEANINGS = new Map(
  [...glossary.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].map(([, term = "", meaning = ""]) => [
    term,
    plainText(meaning),
  ]),
);

/** Markdown without its marks. */
function plainText(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\([^)]*\)/g, "$1").replace(/[*`]/g, "");
}

/** What a term means.
 *
 * @throws Error if the glossary does not have it.
 */
export function meaningOf(term: string): string {
  const meaning = MEANINGS.get(term);
  if (meaning === undefined) throw new Error(`docs/glossary.md does not explain ${term}`);
  return meaning;
}

/** A number in a text: the step whose run has it (null: this one), and its metric. */
export interface Reference {
  step: number | null;
  metric: string;
}

type Part = string | { shown: string; term: string } | Reference;

/** "[shown|term]", "[term]", "{metric}" and "{STEP:metric}", and the text between them. */
export function partsOf(text: string): Part[] {
  return text.split(/(\[[^\]]+\]|\{[^}]+\})/).map((part) => {
    const inside = part.slice(1, -1);
    if (part.startsWith("[")) {
      const [shown = "", term = shown] = inside.split("|");
      return { shown, term };
    }
    if (!part.startsWith("{")) return part;
    const [step = null, metric = inside] = inside.includes(":") ? inside.split(":") : [];
    return { step: step === null ? null : Number(step), metric };
  });
}

export function referencesOf(text: string): Reference[] {
  return partsOf(text).filter((part) => typeof part !== "string" && "metric" in part);
}

/** A paragraph. A press on a term opens its meaning below.
 *
 * @param number - The text of a number.
 */
export function prose(text: string, number: (reference: Reference) => string): HTMLElement {
  const meaning = make("p", { class: "meaning", hidden: true, role: "status" });
  const paragraph = make("p", {});
  for (const part of partsOf(text)) {
    if (typeof part === "string") paragraph.append(part);
    else if ("metric" in part) paragraph.append(make("strong", {}, number(part)));
    else paragraph.append(termButton(part.shown, part.term, meaning));
  }
  return make("div", {}, paragraph, meaning);
}

function termButton(shown: string, term: string, meaning: HTMLElement): HTMLElement {
  const button = make("button", { type: "button", class: "term", "aria-expanded": "false" }, shown);
  button.addEventListener("click", () => {
    const opens = button.getAttribute("aria-expanded") === "false";
    for (const other of button.parentElement?.querySelectorAll(".term") ?? []) {
      other.setAttribute("aria-expanded", String(opens && other === button));
    }
    meaning.hidden = !opens;
    meaning.replaceChildren(make("strong", {}, term.replaceAll("`", "")), `: ${meaningOf(term)}`);
  });
  return button;
}
