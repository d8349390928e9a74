/** The frontier on the page: a point that is pressed or dragged to becomes the setting. */

import { make, table } from "../dom";
import { Chart, type Pick } from "../pictures/chart";
import { isEmpty, type Picture } from "../pictures/picture";
import { withWords } from "../scenario/discipline_words";
import { duration } from "../scenario/quantities";
import { axisName, valueText } from "../study/axis";
import {
  choicesOf,
  frontierPicture,
  hasUnseen,
  type Choice,
  type FrontierAsked,
  type FrontierCurve,
} from "./frontier_picture";

/** A press farther from every point, in pixels, chooses nothing. */
const REACH = 40;

const NOTE =
  "Down and to the left is better. Press or drag to a point to choose it. Faint bars are 95 % intervals; " +
  "values that the runs cannot tell apart are left out.";
const FULL =
  " Less than 0.01 % lost is drawn as 0.01 %; packets that are sent again use capacity, too.";
const OFFERED =
  " This link carries what arrives, with any queue, so time is what there is to lose.";
const CORNER = " The shaded corner meets the targets.";
const CORNER_OF_SOME =
  " The shaded corner meets the targets of its two axes; the others are not seen here.";

export class FrontierView {
  readonly chart: Chart;
  readonly #title = make("figcaption", {});
  readonly #note = make("p", { class: "quiet" }, NOTE);
  readonly #curves = make("ul", { class: "quiet" });
  readonly #numbers = make("div", { class: "scrolls", tabindex: "0", role: "region" });
  readonly #details: HTMLDetailsElement;
  readonly #onChoice: (choice: Choice) => void;
  #asked: FrontierAsked | null = null;
  #choices: Choice[] = [];
  #shownNumbers = "";
  /** The point that was chosen last, and the curve on which the pointer drags. */
  #chosen: Choice | null = null;

  constructor(host: HTMLElement, onChoice: (choice: Choice) => void) {
    this.#onChoice = onChoice;
    const place = make("div", { class: "chart", id: "frontier-picture" });
    this.chart = new Chart(place, (pick) => this.#pick(pick));
    this.#numbers.setAttribute("aria-label", "Points of the frontier");
    this.#details = make(
      "details",
      { toggle: () => this.#showNumbers() },
      make("summary", {}, "The points"),
      this.#numbers,
    );
    host.append(make("figure", {}, this.#title, place), this.#note, this.#curves, this.#details);
  }

  get pictures(): Picture[] {
    const { picture } = this.chart;
    return picture && !isEmpty(picture) ? [picture] : [];
  }

  show(asked: FrontierAsked): void {
    this.#asked = asked;
    this.#choices = choicesOf(asked);
    const picture = frontierPicture(asked, this.#choices);
    const { targets, who, cost } = asked;
    this.#title.textContent = picture.title;
    const corner = hasUnseen(targets, who, cost) ? CORNER_OF_SOME : CORNER;
    const axis = cost.axis.percent ? FULL : OFFERED;
    this.#note.textContent = NOTE + axis + (picture.shades.length > 0 ? corner : "");
    const words = asked.curves.map((curve, at) => this.#wordsOf(curve, at));
    if (words.join("\n") !== [...this.#curves.children].map((one) => one.textContent).join("\n")) {
      this.#curves.replaceChildren(...words.map((text) => make("li", {}, text)));
    }
    this.chart.show(picture);
    this.#showNumbers();
  }

  /** What the points of a curve are, and whether they differ. */
  #wordsOf({ kind, axis, points, done }: FrontierCurve, at: number): string {
    const values = [...points.keys()].sort((a, b) => a - b);
    const [first, last] = [values[0], values.at(-1)];
    const what = `${withWords(kind)}: its points vary the ${axisName(axis)}`;
    if (first === undefined || last === undefined) return `${what}.`;
    const count = this.#choices.filter(({ curve }) => curve === at).length;
    const same = count === 1 && done && values.length > 1 ? "; all give the same here" : "";
    return `${what}, from ${valueText(axis, first)} to ${valueText(axis, last)}${same}.`;
  }

  /** The points as a table, if it is open: each with a button that chooses it. */
  #showNumbers(): void {
    if (!this.#details.open || !this.#asked) return;
    const { curves, cost, who } = this.#asked;
    const rows = this.#choices.map(({ curve, axis, value, wait, paid, runs }) => [
      `${curves[curve]?.kind ?? ""}, ${axisName(axis)} ${valueText(axis, value)}`,
      withHalf(wait.mean, wait.halfWidth, duration),
      withHalf(cost.exactly(paid.mean), paid.halfWidth, cost.shown),
      String(runs),
    ]);
    // A button that is made anew loses the focus.
    const shown = JSON.stringify([who, cost.title, rows]);
    if (shown === this.#shownNumbers) return;
    this.#shownNumbers = shown;
    const head = ["setting", `delay${who && ` of ${who}`}, 99 %`, cost.title, "runs", ""];
    const caption = "Mean and half of the 95 % interval";
    const cells = rows.map((row, at) => [...row, this.#button(row[0] ?? "", at)]);
    this.#numbers.replaceChildren(table(caption, head, cells));
  }

  #button(setting: string, at: number): HTMLElement {
    const use = (): void => {
      const choice = this.#choices[at];
      if (choice) this.#onChoice(choice);
    };
    return make("button", { type: "button", "aria-label": `Use ${setting}`, click: use }, "Use");
  }

  #pick({ at, placeOf, begins }: Pick): void {
    const curve = begins ? null : (this.#chosen?.curve ?? null);
    if (!begins && curve === null) return;
    const distance = ({ x, y }: Choice): number => {
      const [left, top] = placeOf(x, y);
      return Math.hypot(left - at[0], top - at[1]);
    };
    const [nearest] = this.#choices
      .filter((one) => curve === null || one.curve === curve)
      .sort((a, b) => distance(a) - distance(b));
    if (begins && (!nearest || distance(nearest) > REACH)) {
      this.#chosen = null;
      return;
    }
    if (!nearest || (!begins && nearest.value === this.#chosen?.value)) return;
    this.#chosen = nearest;
    this.#onChoice(nearest);
  }
}

function withHalf(mean: number, half: number, shown: (value: number) => string): string {
  return Number.isFinite(half) && half > 0 ? `${shown(mean)} ± ${shown(half)}` : shown(mean);
}
