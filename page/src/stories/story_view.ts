/** A story on the screen: a text, a guess, then the run with its number next to the guess. */

import { announce, make } from "../dom";
import type { Answer, Delays, ModelInput, Series } from "../engine/engine";
import type { Engine } from "../engine/pool";
import { addressOf } from "../keep/address";
import { Chart } from "../pictures/chart";
import type { Picture } from "../pictures/picture";
import { bufferOf } from "../rules/buffer_units";
import { placeOf } from "../scenario/place";
import { questionOf } from "../scenario/reading";
import { parseToml } from "../scenario/text";
import {
  delayPicture,
  limitOf,
  queuePicture,
  seriesInterval,
  windowsPicture,
} from "../see/live_pictures";
import { NO_TARGETS } from "../state";
import { Guess } from "./guess";
import { prose, referencesOf } from "./prose";
import {
  metricOf,
  stepText,
  STORIES,
  storyAddress,
  storyOf,
  valueText,
  type Step,
  type Story,
} from "./story";

interface Recorded {
  series: Series;
  delays: Delays | null;
}

/** Draws the pictures of a run, in progress or ended. */
type Draw = (recorded: Recorded, answer: Answer | null) => void;
type OnProgress = (fraction: number, recorded: Recorded | null) => void;

export class StoryView {
  readonly #host: HTMLElement;
  readonly #engine: Engine;
  #charts: Chart[] = [];
  /** Runs by their scenario. */
  readonly #answers = new Map<string, Promise<Answer>>();

  constructor(host: HTMLElement, engine: Engine) {
    this.#host = host;
    this.#engine = engine;
    window.addEventListener("hashchange", () => this.show());
  }

  restyle(): void {
    for (const chart of this.#charts) chart.restyle();
  }

  /** Shows the step of the address. */
  show(): void {
    const place = storyOf(window.location.hash);
    if (!place) return;
    const { story, step } = place;
    this.#charts = [];
    const title = make("h2", { tabindex: "-1" }, story.title);
    const count = make("p", { class: "quiet" }, `Step ${step} of ${story.steps.length}`);
    const part = make("article", {});
    this.#host.replaceChildren(listOf(story), title, count, part);
    this.#host.hidden = false;
    document.title = `${story.title}: tailroom`;
    window.scrollTo(0, 0);
    title.focus();
    this.#begin(story, step, part).catch((error: unknown) => fail(part, error));
  }

  /** Shows the text and the question of a step. */
  async #begin(story: Story, at: number, part: HTMLElement): Promise<void> {
    const step = stepAt(story, at);
    const text = await this.#prose(step.text, story, at);
    const run = make("button", { type: "button", disabled: true }, "Run it, and compare");
    const guess = new Guess(step, () => (run.disabled = false));
    run.addEventListener("click", () => {
      run.remove();
      guess.close();
      this.#reveal(story, at, guess.text, part).catch((error: unknown) => fail(part, error));
    });
    part.append(text, guess.element, run);
  }

  /** Runs a step, and shows its number next to the guess. */
  async #reveal(story: Story, at: number, guess: string, part: HTMLElement): Promise<void> {
    const step = stepAt(story, at);
    const scenario = stepText(story, step);
    const state = make("p", { class: "quiet" }, "Simulating");
    const pictures = make("div", { class: "pictures" });
    part.append(state, pictures);
    const draw = this.#pictures(
      story,
      scenario,
      await this.#engine.modelInput(questionOf(scenario)),
      pictures,
    );
    const answer = await this.#run(scenario, (fraction, recorded) => {
      state.textContent = `Simulated ${Math.round(100 * fraction)} %`;
      if (recorded && !wantsLessMotion()) draw(recorded, null);
    });
    const { series, delays } = answer;
    if (series) draw({ series, delays }, answer);
    const number = valueText(step.of, metricOf(answer.summary, step.of));
    const reveal = await this.#prose(step.reveal, story, at);
    state.replaceWith(comparison(guess, number), reveal);
    part.append(onward(story, at, await explorerAddress(story, scenario)));
    announce(`Your guess: ${guess}. The run: ${number}.`);
  }

  /** The run of a scenario; each is simulated once. */
  #run(text: string, onProgress?: OnProgress): Promise<Answer> {
    const known = this.#answers.get(text);
    if (known) return known;
    const answer = this.#simulate(text, onProgress);
    this.#answers.set(text, answer);
    answer.catch(() => this.#answers.delete(text));
    return answer;
  }

  async #simulate(text: string, onProgress?: OnProgress): Promise<Answer> {
    const { duration_s, flows } = await this.#engine.modelInput(questionOf(text));
    return this.#engine.run(
      questionOf(text, { "series.interval": seriesInterval(duration_s, flows) }),
      {
        signal: new AbortController().signal,
        priority: 0,
        onProgress: ({ fraction, series, delays }) =>
          onProgress?.(fraction, series && { series, delays }),
      },
    );
  }

  /** A text with the numbers of the runs that it names. */
  async #prose(text: string, story: Story, at: number): Promise<HTMLElement> {
    const numbers = new Map<string, string>();
    for (const { step, metric } of referencesOf(text)) {
      const { summary } = await this.#run(stepText(story, stepAt(story, step ?? at)));
      numbers.set(`${step}:${metric}`, valueText(metric, metricOf(summary, metric)));
    }
    return prose(text, ({ step, metric }) => numbers.get(`${step}:${metric}`) ?? "");
  }

  /** Makes the charts of a step. */
  #pictures({ pictures }: Story, scenario: string, input: ModelInput, host: HTMLElement): Draw {
    const draws = pictures.map((name): Draw => {
      const title = make("figcaption", {});
      const place = make("div", { class: "chart" });
      host.append(make("figure", {}, title, place));
      const chart = new Chart(place);
      this.#charts.push(chart);
      return (recorded, answer) => {
        const picture = pictureOf(name, scenario, recorded, input, answer);
        title.textContent = picture.title;
        chart.show(picture);
      };
    });
    return (recorded, answer) => draws.forEach((draw) => draw(recorded, answer));
  }
}

function stepAt({ name, steps }: Story, at: number): Step {
  const step = steps[at - 1];
  if (!step) throw new Error(`the story ${name} has no step ${at}`);
  return step;
}

function pictureOf(
  name: string,
  text: string,
  recorded: Recorded,
  input: ModelInput,
  answer: Answer | null,
): Picture {
  const { series, delays } = recorded;
  const span = { measuredFromS: input.measure_from_s, durationS: input.duration_s };
  const [kind, of] = name.split(":");
  const link = input.links.find((one) => one.name === of);
  if (!link) return windowsPicture(series, span);
  if (kind === "queue") {
    const scenario = parseToml(text) ?? {};
    const sized = { ...link, buffer: bufferOf(link, scenario) };
    return queuePicture(
      series,
      link.name,
      limitOf(sized, placeOf(scenario, link.name), text),
      span,
    );
  }
  const p99 = answer?.summary.links[link.name]?.queue_delay_s_p99 ?? null;
  return delayPicture(delays, link.name, p99);
}

/** All stories, the present one marked. */
function listOf(present: Story): HTMLElement {
  const items = STORIES.map((story) =>
    make(
      "li",
      {},
      make(
        "a",
        { href: storyAddress(story), "aria-current": story === present && "page" },
        story.title,
      ),
    ),
  );
  return make("nav", { "aria-label": "Stories" }, make("ol", { class: "stories" }, ...items));
}

function comparison(guess: string, number: string): HTMLElement {
  const cells = [
    ["your guess", guess],
    ["the run", number],
  ].map(([name = "", value = ""]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  return make("dl", { class: "numbers" }, ...cells);
}

/** Links to the next step or story, and to the scenario in the explorer. */
function onward(story: Story, at: number, explorer: string): HTMLElement {
  const next = STORIES[STORIES.indexOf(story) + 1];
  const links = [make("a", { href: explorer }, "Open this run in the explorer")];
  if (at < story.steps.length) {
    links.unshift(make("a", { class: "next", href: storyAddress(story, at + 1) }, "Next step"));
  } else if (next) {
    links.unshift(make("a", { class: "next", href: storyAddress(next) }, `Next: ${next.title}`));
  }
  return make("p", { class: "row" }, ...links);
}

function explorerAddress({ link }: Story, text: string): Promise<string> {
  return addressOf({ text, link, who: null, targets: NO_TARGETS, kept: [] });
}

function wantsLessMotion(): boolean {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function fail(part: HTMLElement, error: unknown): void {
  part.append(make("p", { class: "fault", role: "alert" }, `The run failed: ${String(error)}`));
}
