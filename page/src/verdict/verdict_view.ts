/** The verdict on top of the page: one sentence, how sure it is, and how to configure the buffer. */

import { copyButton, make } from "../dom";
import { withLimit, type Bottleneck, type Buffer } from "../rules/bottleneck";
import { limitText, readLimit } from "../rules/buffer_units";
import { equivalents, hasLines, headingOf, remarksOn, type Equivalent } from "../rules/other_tools";
import { withWords, wordsOn } from "../scenario/discipline_words";
import {
  duration,
  percent,
  QuantityError,
  readDuration,
  readNumber,
  readUtilization,
  withPoint,
} from "../scenario/quantities";
import type { SizeAnswer } from "../study/answer";
import { estimateAt, limitWhere, type Estimate } from "../study/curve";
import { GROUP, metricOf, type Measured, type Metric, type Point } from "../study/point";
import { gradeAt, GRADES_TEXT } from "./grade";
import { TWICE } from "./neighbours";
import { Handle } from "./handle";
import { othersText, priceText, type Instead, type Others, type Price } from "./instead";
import { alternativesText, surenessText, type Neighbour } from "./sentence";

export interface VerdictShown {
  /** The link with the buffer in question. */
  link: Bottleneck;
  who: string;
  groups: string[];
  points: Map<number, Point>;
  /** What the last run measured; null while it is not of this buffer. */
  run: Measured | null;
  answer: SizeAnswer | null;
  answerText: string;
  /** Runs of the present setting, and those of half and twice of the buffer, with the same seeds. */
  own: Point;
  neighbours: Neighbour[];
  /** What the best other discipline changes; null while it is not known. */
  price: Price | null;
  /** Other disciplines; null while they are not known, or why they are not compared. */
  others: Others | string | null;
}

export interface VerdictEvents {
  onLimit: (buffer: Buffer) => void;
  /** The slider of the buffer moves by so many steps. */
  onStep: (steps: number) => void;
  onWho: (group: string) => void;
  onInstead: (instead: Instead) => void;
}

const ALL = "all flows";
const NOTHING = "…";
/** Groups whose grades stand below the sentence; the table of groups has all of them. */
const MOST_GRADES = 8;
const MEASURED =
  "Packets of a group wait at all links that they cross. Differences are of runs with common seeds, ± half " +
  `of their 95 % interval. “Perhaps”: the interval holds 0. ${GRADES_TEXT}`;
const OTHERS_FOLLOW = "Runs with other queue disciplines follow.";
/** Runs from which a mean with its interval takes the place of the one run. */
const FEWEST_RUNS = 2;

export class VerdictView {
  readonly #buffer: Handle;
  readonly #used: Handle;
  readonly #wait: Handle;
  readonly #who = make("select", { class: "handle", "aria-label": "Whose packets" });
  readonly #discipline = make("span", {});
  readonly #words = make("span", { class: "words-on" });
  readonly #grade = make("span", { class: "grade" });
  readonly #alternatives = make("p", { class: "alternatives" });
  readonly #sureness = make("p", { class: "quiet" });
  readonly #grades = make("ul", { class: "grades" });
  readonly #instead = make("p", {});
  readonly #useInstead: HTMLButtonElement;
  readonly #answer = make("p", { class: "verdict" });
  readonly #use: HTMLButtonElement;
  readonly #of = make("p", { class: "quiet" });
  readonly #command = make("code", { class: "code", tabindex: "0" });
  readonly #copied = copyButton(this.#command);
  readonly #remarks = make("div", {});
  readonly #others = make("dl", {});
  readonly #host: HTMLElement;
  #shown: VerdictShown | null = null;
  #best: Instead | null = null;

  constructor(host: HTMLElement, events: VerdictEvents) {
    this.#host = host;
    const read = (of: (text: string, shown: VerdictShown) => Buffer | null) => (text: string) =>
      this.#read(text, of, events.onLimit);
    const where = (shown: VerdictShown, metric: Metric | null, value: number): Buffer | null => {
      const steps = limitWhere(shown.points, metric, value);
      return steps === null ? null : { ...shown.link.buffer, steps };
    };
    this.#buffer = new Handle("Buffer", read(bufferOf), events.onStep);
    this.#used = new Handle(
      "Utilization",
      read((text, shown) => where(shown, "utilization", readUtilization(text))),
      events.onStep,
    );
    this.#wait = new Handle(
      "Wait of 99 % of the packets",
      read((text, shown) => where(shown, metricOf(shown.who, GROUP.delayP99), readDuration(text))),
      events.onStep,
    );
    this.#who.addEventListener("change", () => events.onWho(this.#who.value));
    this.#use = make("button", {
      type: "button",
      click: () => {
        const steps = this.#shown?.answer?.limit;
        if (this.#shown && steps) events.onLimit({ ...this.#shown.link.buffer, steps });
      },
    });
    this.#useInstead = make("button", {
      type: "button",
      hidden: true,
      click: () => {
        if (this.#best) events.onInstead(this.#best);
      },
    });
    const sentence = make(
      "p",
      { class: "sentence" },
      "With a buffer of ",
      this.#buffer.element,
      this.#discipline,
      this.#words,
      " this link is used to ",
      make("span", { class: "whole" }, this.#used.element, ","),
      " and 99 of 100 packets of ",
      this.#who,
      " wait at most ",
      this.#wait.element,
      this.#grade,
    );
    host.append(
      sentence,
      this.#alternatives,
      this.#sureness,
      make("div", { class: "row instead" }, this.#instead, this.#useInstead),
      this.#grades,
      make("div", { class: "row" }, this.#answer, this.#use),
      this.#of,
      make("div", { class: "command" }, this.#command, this.#copied),
      this.#remarks,
      make("details", {}, make("summary", {}, "In the words of other tools"), this.#others),
      make("details", {}, make("summary", {}, "How waits and grades are defined"), MEASURED),
    );
  }

  /** The verdict in words. */
  get text(): string {
    const { link, who } = this.#shown ?? {};
    if (!link) return "";
    return (
      `With a buffer of ${this.#buffer.element.value} in ${withWords(link.discipline)}, the link ${link.name} ` +
      `is used to ${this.#used.element.value}, and 99 of 100 packets of ${who || ALL} wait at most ` +
      `${this.#wait.element.value}. ` +
      `${this.#alternatives.textContent} ${this.#best ? this.#instead.textContent : ""} ${this.#sureness.textContent}`
    );
  }

  /** Whether the scenario is wrong, so that nothing here is of it. */
  past(isPast: boolean): void {
    this.#host.classList.toggle("past", isPast);
  }

  show(shown: VerdictShown): void {
    this.#shown = shown;
    const { link, who, groups, points, own, neighbours } = shown;
    const { unit, steps } = link.buffer;
    const wait = metricOf(who, GROUP.delayP99);
    this.#buffer.show(limitText(unit, steps));
    const words = wordsOn(link.discipline);
    this.#discipline.textContent = ` in ${link.discipline}`;
    this.#words.textContent = `${words && ` (${words})`},`;
    this.#used.show(this.#number("utilization", (value) => percent(value, 1)));
    this.#wait.show(this.#number(wait, duration));
    this.#showWho(groups, who);
    this.#grade.textContent = this.#gradeText(who);
    this.#alternatives.textContent = alternativesText(
      { own, utilization: "utilization", wait },
      neighbours,
      TWICE,
    );
    const estimates = ["utilization", wait].map((metric) => estimateAt(points, steps, metric));
    this.#sureness.textContent = sureness(estimates, shown.run);
    this.#grades.replaceChildren(
      make("li", { class: "quiet" }, "99 of 100 packets wait at most:"),
      ...groups.slice(0, MOST_GRADES).map((group) => this.#gradeEntry(group)),
    );
    this.#showOtherDisciplines(shown);
    this.#showAnswer(shown);
    this.#showCommand(shown);
  }

  /** The mean of the study, or the value of the one run, or that nothing is known yet. */
  #value(metric: Metric | null): number | null {
    if (!this.#shown || metric === null) return null;
    const { points, link, run } = this.#shown;
    const estimate = estimateAt(points, link.buffer.steps, metric);
    if (estimate && !estimate.isBetween && estimate.count >= FEWEST_RUNS) return estimate.mean;
    return run?.[metric] ?? estimate?.mean ?? null;
  }

  #number(metric: Metric | null, shown: (value: number) => string): string {
    const value = this.#value(metric);
    return value === null ? NOTHING : shown(value);
  }

  #gradeText(who: string): string {
    const delay = this.#value(metricOf(who, GROUP.delayP99));
    const grade = gradeAt(this.#shown?.link ?? null, delay);
    return grade && `grade ${grade}`;
  }

  #gradeEntry(group: string): HTMLElement {
    const delay = this.#number(metricOf(group, GROUP.delayP99), duration);
    const completion = this.#value(metricOf(group, GROUP.completion));
    const grade = this.#gradeText(group).replace("grade ", "");
    const complete = completion === null ? "" : `; 95 % complete in ${duration(completion)}`;
    return make(
      "li",
      {},
      make("strong", {}, group),
      ` ${delay}${complete} `,
      grade ? make("span", { class: "grade" }, grade) : null,
    );
  }

  #showWho(groups: string[], who: string): void {
    const values = ["", ...groups];
    if ([...this.#who.options].map(({ value }) => value).join("\n") !== values.join("\n")) {
      this.#who.replaceChildren(...values.map((value) => make("option", { value }, value || ALL)));
    }
    this.#who.value = who;
  }

  #showOtherDisciplines({ others, who, price }: VerdictShown): void {
    const isKnown = others !== null && typeof others !== "string";
    const best = isKnown ? others.best : null;
    this.#best = price && best;
    const text = isKnown ? othersText(others, who || ALL) : (others ?? OTHERS_FOLLOW);
    const proposed = best && (price ? priceText(best, price) : OTHERS_FOLLOW);
    this.#instead.textContent = [proposed, text].filter(Boolean).join(" ");
    this.#instead.classList.toggle("quiet", !this.#best);
    this.#instead.parentElement?.toggleAttribute("hidden", this.#instead.textContent === "");
    this.#useInstead.hidden = !this.#best;
    this.#useInstead.textContent = `Use ${this.#best?.kind ?? ""}`;
  }

  #showAnswer({ answer, answerText, link }: VerdictShown): void {
    this.#answer.textContent = answerText;
    this.#answer.parentElement?.toggleAttribute("hidden", answerText === "");
    const other = answer?.limit ?? null;
    const { unit, steps } = link.buffer;
    this.#use.hidden = other === null || other === steps;
    if (other !== null) this.#use.textContent = `Use ${limitText(unit, other)}`;
  }

  #showCommand({ link, answer }: VerdictShown): void {
    const buffer = answer?.limit ?? link.buffer.steps;
    const amount = limitText(link.buffer.unit, buffer);
    this.#command.parentElement?.toggleAttribute("hidden", !Number.isFinite(buffer));
    this.#of.hidden = !Number.isFinite(buffer);
    const known = Number.isFinite(buffer) ? equivalents(withLimit(link, buffer)) : [];
    const [first, ...others] = known;
    const which = answer?.limit ? `the answer, ${amount},` : amount;
    const lines = first && hasLines(first);
    const heading = first ? headingOf(first) : "";
    this.#of.textContent = lines ? `To set ${which} with ${heading}:` : `${heading}:`;
    this.#command.textContent = first?.text ?? "";
    this.#copied.hidden = !lines;
    this.#remarks.replaceChildren(...(first ? remarks(first) : []));
    this.#others.replaceChildren(
      ...others.flatMap((one) => [
        make("dt", {}, headingOf(one)),
        make("dd", {}, make("code", { class: "code" }, one.text), ...remarks(one)),
      ]),
    );
  }

  #read(
    text: string,
    of: (text: string, shown: VerdictShown) => Buffer | null,
    onLimit: (buffer: Buffer) => void,
  ): string {
    if (!this.#shown) return "";
    try {
      const buffer = of(text, this.#shown);
      if (buffer === null) return "No buffer has been tried yet; wait for the first runs";
      onLimit(buffer);
      return "";
    } catch (error) {
      if (error instanceof QuantityError) return error.message;
      throw error;
    }
  }
}

/** A buffer as it is written: "83 packets", "64 kB", "50 ms", "0.5 bdp"; a number alone counts packets. */
function bufferOf(text: string): Buffer {
  const written = withPoint(text);
  const buffer = readLimit(/[a-z]/i.test(written) ? written : `${readNumber(text)} packets`);
  if (buffer) return buffer;
  throw new QuantityError(
    `"${text.trim()}" is no limit; write whole packets, or for example 64 kB, 50 ms or 0.5 bdp`,
  );
}

function remarks(one: Equivalent): HTMLElement[] {
  return remarksOn(one).map((text) => make("p", { class: "quiet" }, text));
}

function sureness([utilization, wait]: (Estimate | null)[], run: Measured | null): string {
  const text = surenessText(utilization ?? null, wait ?? null);
  return text || (run ? "Simulated: one run of this buffer so far." : "Simulating.");
}
