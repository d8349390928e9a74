/** A few seconds of the run, slowed down, packet by packet. */

import { announce, labelled, make } from "../dom";
import { isAbort } from "../engine/engine";
import type { Engine } from "../engine/pool";
import { isDark } from "../pictures/chart";
import { DARK, LIGHT, type Theme } from "../pictures/picture";
import { plain } from "../scenario/quantities";
import { LIVE_PRIORITY } from "../see/live";
import { momentText, spanText, StripDrawing } from "./drawing";
import { placeAbove, presentAt } from "./fates";
import { levelsAt, type Level } from "./samples";
import type { Subject } from "./span";
import { colourOfFlow, stripOf, type Strip } from "./strip";

const SLOWER = [10, 30, 100, 300, 1000];
/** Time on the screen in which a drop falls. */
const FALL_S = 0.6;
const WORDS_MS = 100;
const STEPS = 1000;
/** Names in the legend. */
const MOST_NAMES = 12;

/** Hears of the moment that is shown: simulated seconds, and what stands at each link. */
type OnMoment = (timeS: number, levels: Map<string, Level>) => void;

/** Back or on. */
type Way = -1 | 1;

export class PacketsView {
  readonly #engine: Engine;
  readonly #onMoment: OnMoment;
  #subject: Subject | null = null;
  #strip: Strip | null = null;
  #drawing: StripDrawing | null = null;
  #abort: AbortController | null = null;
  /** Seconds after the span begins. */
  #time = 0;
  #frame = 0;
  #lastFrame: number | null = null;
  /** When the moment was last put into words. */
  #said = 0;
  readonly #picture = make("div", { class: "strip", role: "img" });
  readonly #words = make("p", { class: "quiet" });
  readonly #moment = make("p", { class: "readout" });
  readonly #legend = make("ul", { class: "grades" });
  readonly #watch = make(
    "button",
    { type: "button", disabled: true, click: () => void this.#begin() },
    "Watch packets",
  );
  readonly #play = make("button", { type: "button", click: () => this.#toggle() }, "Play");
  readonly #losses = steps("Loss before", "Next loss", (way) => this.#step("dropTimes", way));
  readonly #marks = steps("Mark before", "Next mark", (way) => this.#step("markTimes", way));
  readonly #slower = make(
    "select",
    {},
    ...SLOWER.map((times) => make("option", { value: String(times) }, `${times} times slower`)),
  );
  readonly #place = make("input", {
    type: "range",
    min: "0",
    max: String(STEPS),
    step: "1",
    value: "0",
    input: () => this.#seek((Number(this.#place.value) / STEPS) * (this.#strip?.lengthS ?? 0)),
  });
  readonly #stage: HTMLElement;

  constructor(host: HTMLElement, engine: Engine, onMoment: OnMoment) {
    this.#engine = engine;
    this.#onMoment = onMoment;
    this.#slower.value = "30";
    const buttons = [this.#play, ...this.#losses, ...this.#marks, labelled("Speed", this.#slower)];
    const controls = make("div", { class: "row" }, ...buttons);
    this.#stage = make(
      "div",
      { hidden: true },
      this.#picture,
      this.#moment,
      controls,
      labelled("Moment", this.#place),
      this.#legend,
    );
    host.append(make("h3", {}, "Packets"), this.#watch, this.#words, this.#stage);
    new ResizeObserver(() => this.restyle()).observe(host);
  }

  /** The packets shown are not those of the present scenario any more. */
  forget(): void {
    this.#abort?.abort();
    this.#subject = null;
    this.#strip = null;
    this.#drawing = null;
    this.#pause();
    this.#watch.disabled = true;
    this.#stage.hidden = true;
    this.#words.textContent = "";
  }

  about(subject: Subject): void {
    this.#subject = subject;
    this.#watch.disabled = false;
  }

  /** Draws in the present colours and width. */
  restyle(): void {
    this.#drawing = null;
    this.#draw();
  }

  get isPlaying(): boolean {
    return this.#frame !== 0;
  }

  async #begin(): Promise<void> {
    const subject = this.#subject;
    if (!subject) return;
    const { question, span } = subject;
    this.#watch.disabled = true;
    this.#words.textContent = `Simulating up to ${plain(span.toS)} s`;
    this.#abort = new AbortController();
    try {
      const { signal } = this.#abort;
      const watched = await this.#engine.watch(question, span, LIVE_PRIORITY, signal);
      if (subject !== this.#subject) return;
      this.#show(stripOf(watched, subject), span.link);
    } catch (error) {
      if (isAbort(error)) return;
      this.#words.textContent = `The packets cannot be shown: ${String(error)}`;
    }
    this.#watch.disabled = false;
  }

  #show(strip: Strip, link: string): void {
    this.#strip = strip;
    this.#drawing = null;
    this.#stage.hidden = false;
    const text = spanText(strip, link);
    this.#words.textContent = text;
    announce(text);
    for (const button of this.#losses) button.disabled = strip.counts.drops === 0;
    for (const button of this.#marks) button.hidden = strip.counts.marks === 0;
    this.#showLegend(strip);
    this.#seek(0);
    if (!isStill()) this.#toggle();
  }

  #showLegend(strip: Strip): void {
    const theme = themeNow();
    const names = strip.seen.slice(0, MOST_NAMES).map((flow) => {
      const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = colourOfFlow(strip, flow, theme);
      return make("li", {}, swatch, strip.names[flow] ?? "");
    });
    const more = strip.seen.length - names.length;
    if (more > 0) names.push(make("li", {}, `and ${more} more, in the same colours`));
    if (this.#drawing?.hasBars) {
      const swatch = make("span", { class: "swatch marked", "aria-hidden": "true" });
      swatch.style.borderColor = theme.text;
      names.push(make("li", {}, swatch, "marked (ECN)"));
    }
    this.#legend.replaceChildren(...names);
  }

  #toggle(): void {
    if (this.isPlaying) {
      this.#pause();
      this.#draw();
      return;
    }
    const strip = this.#strip;
    if (!strip) return;
    if (this.#time >= strip.lengthS) this.#time = 0;
    this.#play.textContent = "Pause";
    this.#lastFrame = null;
    this.#frame = requestAnimationFrame((now) => this.#go(now));
  }

  #pause(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#play.textContent = "Play";
  }

  #go(now: number): void {
    const strip = this.#strip;
    if (!strip) return;
    const passed = (now - (this.#lastFrame ?? now)) / 1000;
    this.#lastFrame = now;
    this.#time = Math.min(strip.lengthS, this.#time + passed / Number(this.#slower.value));
    if (this.#time >= strip.lengthS) this.#pause();
    else this.#frame = requestAnimationFrame((next) => this.#go(next));
    this.#draw();
  }

  /** Goes to the next of these times, or to the one before, and stops there. */
  #step(which: "dropTimes" | "markTimes", way: Way): void {
    const times = this.#strip?.fates[which] ?? [];
    const found =
      way > 0 ? times[placeAbove(times, this.#time)] : times.findLast((time) => time < this.#time);
    if (found !== undefined) this.#seek(found);
  }

  #seek(time: number): void {
    this.#pause();
    this.#time = time;
    this.#draw();
    announce(this.#moment.textContent);
  }

  #draw(): void {
    const strip = this.#strip;
    const width = this.#stage.clientWidth;
    if (!strip || width === 0) return;
    if (!this.#drawing) {
      const ratio = window.devicePixelRatio || 1;
      this.#drawing = new StripDrawing(this.#picture, strip, themeNow(), width, ratio);
      this.#showLegend(strip);
    }
    const fallS = isStill() ? 0 : FALL_S / Number(this.#slower.value);
    this.#drawing.draw({ time: this.#time, fallS });
    this.#say(strip);
  }

  /** Says what is seen; while it moves, as often as can be read. */
  #say(strip: Strip): void {
    const now = performance.now();
    if (this.isPlaying && now - this.#said < WORDS_MS) return;
    this.#said = now;
    this.#place.value = String(Math.round((this.#time / strip.lengthS) * STEPS));
    const levels = levelsAt(strip.links, this.#time);
    const own = levels.get(strip.link);
    // Samples are late; of this link every packet is known.
    if (own) {
      own.drops = placeAbove(strip.fates.dropTimes, this.#time);
      own.present = presentAt(strip.fates, this.#time);
    }
    this.#onMoment(strip.beginS + this.#time, levels);
    const text = momentText(strip, this.#time);
    this.#moment.textContent = text;
    // A picture in motion is described when it stands still.
    if (!this.isPlaying) {
      this.#picture.setAttribute("aria-label", text);
      this.#place.setAttribute("aria-valuetext", text);
    }
  }
}

/** Buttons that go to the moment before and to the next one. */
function steps(before: string, next: string, go: (way: Way) => void): HTMLButtonElement[] {
  const button = (way: Way, name: string): HTMLButtonElement =>
    make("button", { type: "button", click: () => go(way) }, name);
  return [button(-1, before), button(1, next)];
}

function themeNow(): Theme {
  return isDark() ? DARK : LIGHT;
}

/** Whether the visitor wants pictures that do not move by themselves. */
function isStill(): boolean {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}
