/** The frontier on the page: a point that is pressed or dragged to becomes the setting. */

import { make } from "../dom";
import { Chart, type Pick } from "../pictures/chart";
import { isEmpty, type Picture } from "../pictures/picture";
import type { Targets } from "../state";
import {
  choicesOf,
  frontierPicture,
  hasUnseen,
  type Choice,
  type FrontierCurve,
  type Spot,
} from "./frontier_picture";

/** A press farther from every point, in pixels, chooses nothing. */
const REACH = 40;

const NOTE =
  "Down and to the left is better. Each point is a buffer (drop-tail) or a target delay (the others); " +
  "press or drag to a point to choose it. Less than 0.01 % lost is drawn as 0.01 %.";
const CORNER = " The shaded corner meets the targets.";
const CORNER_OF_SOME =
  " The shaded corner meets the targets of its two axes; the others are not seen here.";

export interface FrontierShown {
  curves: FrontierCurve[];
  who: string;
  now: Spot | null;
  answer: Spot | null;
  targets: Targets;
}

export class FrontierView {
  readonly chart: Chart;
  readonly #title = make("figcaption", {});
  readonly #note = make("p", { class: "quiet" }, NOTE);
  readonly #onChoice: (choice: Choice) => void;
  #choices: Choice[] = [];
  /** The point that was chosen last, and the curve on which the pointer drags. */
  #chosen: Choice | null = null;

  constructor(host: HTMLElement, onChoice: (choice: Choice) => void) {
    this.#onChoice = onChoice;
    const place = make("div", { class: "chart", id: "frontier-picture" });
    this.chart = new Chart(place, (pick) => this.#pick(pick));
    host.append(make("figure", {}, this.#title, place), this.#note);
  }

  get pictures(): Picture[] {
    const { picture } = this.chart;
    return picture && !isEmpty(picture) ? [picture] : [];
  }

  show({ curves, who, now, answer, targets }: FrontierShown): void {
    this.#choices = choicesOf(curves, who);
    const picture = frontierPicture(curves, who, now, answer, targets);
    this.#title.textContent = picture.title;
    const corner = hasUnseen(targets, who) ? CORNER_OF_SOME : CORNER;
    this.#note.textContent = NOTE + (picture.shades.length > 0 ? corner : "");
    this.chart.show(picture);
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
