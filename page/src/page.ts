/** The parts of the page, tied together: the state goes to the engine, answers go to the pictures. */

import { Controls } from "./ask/controls";
import { Editor } from "./ask/editor";
import { PresetChoice } from "./ask/preset_choice";
import { CompareView } from "./compare/compare_view";
import { KeptSettings } from "./compare/kept";
import { announce, find } from "./dom";
import type { Answer, Problem, Series } from "./engine/engine";
import type { OpenedScenario } from "./engine/page_scenario";
import type { Engine } from "./engine/pool";
import { encodeState } from "./keep/address";
import type { PageDocument } from "./keep/document";
import { KeepView, type Snapshot } from "./keep/keep_view";
import { limitPackets, withLimit, type Bottleneck } from "./rules/bottleneck";
import { limitTexts } from "./rules/buffer_units";
import { adviceFor, DEFAULT_REQUIREMENT, type Advice, type Requirement } from "./rules/rules";
import { ruleMarks, RulesView } from "./rules/rules_view";
import { PRESETS } from "./scenario/presets";
import { linkOf, problemsOf, questionOf, Reader, type Reading } from "./scenario/reading";
import { setKey, TextError } from "./scenario/text";
import { BufferSlider, largestLimit } from "./see/buffer_slider";
import { Live } from "./see/live";
import { seriesInterval } from "./see/live_pictures";
import { LiveView } from "./see/live_view";
import type { State, Store, Targets } from "./state";
import { addThemeSwitch } from "./style/theme_switch";
import { targetsOf } from "./study/answer";
import { Study } from "./study/study";
import { TargetFields } from "./study/target_fields";
import { TradeOffView } from "./study/trade_off_view";

/** Studies go on after this time without a new question. */
const IDLE_MS = 300;
/** A slider that has not moved for this time has stopped. */
const SETTLED_MS = 100;
/** The address follows after this time. */
const ADDRESS_MS = 400;

export class Page {
  readonly #engine: Engine;
  readonly #store: Store;
  readonly #reader: Reader;
  readonly #live: Live;
  readonly #study: Study;
  readonly #kept: KeptSettings;
  readonly #editor: Editor;
  readonly #presets: PresetChoice;
  readonly #controls: Controls;
  readonly #slider: BufferSlider;
  readonly #view: LiveView;
  readonly #tradeOff: TradeOffView;
  readonly #targets: TargetFields;
  readonly #rules: RulesView;
  readonly #compare: CompareView;
  readonly #keep: KeepView;
  /** The limit that the slider is setting, while the change of the state is being told. */
  #sliding: number | null = null;
  /** The limit of the text where the slider has set it and the text is not read yet. */
  #slid: number | null = null;
  #reading: Reading | null = null;
  #advice: Advice[] = [];
  #answer: Answer | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #settled: ReturnType<typeof setTimeout> | undefined;
  #addressTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(engine: Engine, store: Store, opened: OpenedScenario | null) {
    this.#engine = engine;
    this.#store = store;
    this.#reader = new Reader(
      engine,
      (reading) => this.#onReading(reading),
      (problems) => this.#onProblems(problems),
    );
    this.#live = new Live(engine, {
      onProgress: (progress) => this.#view.progress(progress),
      onAnswer: (answer, latencyMs) => this.#onAnswer(answer, latencyMs),
      onFault: (error) =>
        this.#view.fault(
          problemsOf(error)
            .map((one) => one.problem)
            .join(" "),
        ),
    });
    this.#study = new Study(engine, () => this.#showStudy());
    this.#kept = new KeptSettings(engine, () => this.#showStudy());
    this.#editor = new Editor(find("editor"), (text) => store.change({ text }));
    this.#presets = new PresetChoice(find("preset"), PRESETS, opened, (text) =>
      store.change({ text, link: null }),
    );
    this.#controls = new Controls(
      find("controls"),
      engine.components,
      (path, value) => this.#edit(path, value),
      (link) => store.change({ link }),
    );
    this.#slider = new BufferSlider(find("slider"), (limit) => {
      const link = this.#link();
      if (!link) return;
      this.#sliding = limit;
      this.#edit(["links", link.name, "queue", "limit"], limitValue(limit));
      this.#sliding = null;
    });
    this.#view = new LiveView(find("live"));
    this.#tradeOff = new TradeOffView(
      find("trade-off"),
      () => this.#study.go(null),
      () => this.#pause(),
    );
    this.#targets = new TargetFields(find("targets"), (part) =>
      store.change({ targets: { ...store.state.targets, ...part } }),
    );
    this.#rules = new RulesView(find("rules"));
    this.#compare = new CompareView(
      find("kept"),
      (name) => this.#keepSetting(name),
      (place) => this.#takeSetting(place),
      (place) => store.change({ kept: store.state.kept.filter((_, at) => at !== place) }),
    );
    this.#keep = new KeepView(find("share"), find("exports"), find("elsewhere"), () =>
      this.#snapshot(),
    );
    addThemeSwitch(find("theme"), () => {
      for (const chart of [...this.#view.charts, ...this.#tradeOff.charts]) chart.restyle();
    });
    store.subscribe((state, before) => this.#onState(state, before));
  }

  async start(): Promise<void> {
    const { text, kept, targets } = this.#store.state;
    this.#editor.show(text);
    this.#presets.show(text);
    this.#targets.show(targets);
    // The field alone: a reload of the page without a change shows what the server has opened.
    void this.#addressOf(this.#store.state).then((address) => this.#keep.showAddress(address));
    await this.#follow(text);
    if (kept.length > 0) this.#kept.show(kept, targetsOf(targets));
    this.#showStudy();
  }

  #onState(state: State, before: State): void {
    if (state.targets !== before.targets) this.#onTargets(state.targets);
    if (state.kept !== before.kept) this.#kept.show(state.kept, targetsOf(state.targets));
    if (state.text !== before.text) {
      this.#editor.show(state.text);
      this.#presets.show(state.text);
      void this.#follow(state.text);
    } else if (state.link !== before.link && this.#reading) {
      this.#onReading(this.#reading);
    }
    this.#writeAddress();
  }

  /** Reads and runs a text. */
  async #follow(text: string): Promise<void> {
    this.#pause();
    clearTimeout(this.#settled);
    if (this.#sliding !== null) this.#slide(text, this.#sliding);
    else if (await this.#reader.read(text)) this.#ask(text);
  }

  /** Runs a text of which only the limit is new; it is read when the slider has stopped. */
  #slide(text: string, limit: number): void {
    this.#slid = limit;
    this.#view.limit(limit);
    this.#reader.forget();
    this.#ask(text);
    this.#settled = setTimeout(() => void this.#reader.read(text), SETTLED_MS);
  }

  #onTargets(targets: Targets): void {
    this.#targets.show(targets);
    const link = this.#link();
    if (!this.#reading || !link) return;
    this.#aboutStudy(this.#reading, link);
    this.#kept.aim(targetsOf(targets));
    this.#keep.show(this.#reading, link, this.#store.state);
    this.#goOn();
  }

  #onReading(reading: Reading): void {
    this.#reading = reading;
    this.#slid = null;
    const { link: chosen } = this.#store.state;
    const link = linkOf(reading, chosen);
    this.#editor.complain([]);
    this.#controls.show(reading, chosen);
    if (!link) return;
    this.#slider.show(link);
    const { measure_from_s: measuredFromS, duration_s: durationS } = reading.input;
    this.#view.about(link, { measuredFromS, durationS });
    this.#aboutStudy(reading, link);
    this.#keep.show(reading, link, this.#store.state);
    this.#goOn();
  }

  #onProblems(problems: Problem[]): void {
    this.#editor.complain(problems);
    this.#controls.complain(problems);
    this.#view.fault("The scenario has a problem; these pictures are of the scenario before.");
    announce(`The scenario has a problem: ${problems[0]?.problem ?? ""}`);
  }

  #onAnswer(answer: Answer, latencyMs: number): void {
    this.#answer = answer;
    this.#view.answer(answer);
    const now = performance.now();
    performance.measure("question to answer", { start: now - latencyMs, end: now });
    const link = this.#link();
    if (link) {
      announce(LiveView.words(answer.summary, link.name));
      this.#compare.show(this.#kept.list, { answer, link });
    }
    this.#goOn();
  }

  #ask(text: string): void {
    this.#pause();
    this.#live.ask(questionOf(text, { "series.interval": this.#interval() }));
  }

  /** Ends the runs of all studies, so that the live run has the engine for itself. */
  #pause(): void {
    clearTimeout(this.#idle);
    this.#study.pause();
    this.#kept.pause();
  }

  /** Takes the studies up when the live run has ended and nothing else is asked for a while. */
  #goOn(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#live.busy || this.#tradeOff.isPaused || !this.#answer) return;
      this.#study.go(this.#answer.wallMs);
      this.#kept.go(this.#answer.wallMs);
    }, IDLE_MS);
  }

  #aboutStudy({ text, scenario }: Reading, link: Bottleneck): void {
    const { targets } = this.#store.state;
    const seed = Number(scenario["seed"] ?? 1);
    this.#advice = adviceFor(link, requirementOf(targets));
    this.#rules.show(this.#advice);
    this.#study.about(
      { text, link: link.name, largest: largestLimit(link), seed },
      targetsOf(targets),
    );
  }

  #showStudy(): void {
    const link = this.#link();
    if (!link) return;
    const others = this.#kept.list.map(({ kept, study }) => ({
      name: kept.name,
      points: study.state.points,
    }));
    const { state } = this.#study;
    this.#slider.beginAt(state.smallest ?? 1);
    this.#tradeOff.show({
      state,
      link,
      targets: this.#store.state.targets,
      rules: ruleMarks(this.#advice),
      others,
    });
    const answer = this.#answer;
    this.#compare.show(this.#kept.list, answer && { answer, link });
    this.#keep.name(this.#pictures());
  }

  #edit(path: string[], value: string): void {
    try {
      this.#store.change({ text: setKey(this.#store.state.text, path, value) });
    } catch (error) {
      if (!(error instanceof TextError)) throw error;
      announce(`The scenario is not valid TOML, so no control can change it: ${error.message}`);
    }
  }

  #keepSetting(given: string): void {
    const link = this.#link();
    if (!link) return;
    const { kept, text } = this.#store.state;
    const letter = String.fromCharCode("A".charCodeAt(0) + kept.length);
    const name = given || `${letter}: ${link.discipline}`;
    this.#store.change({ kept: [...kept, { name, text, link: link.name }] });
    announce(`${name} is kept`);
  }

  #takeSetting(place: number): void {
    const setting = this.#store.state.kept[place];
    if (setting) this.#store.change({ text: setting.text, link: setting.link });
  }

  #link(): Bottleneck | null {
    const link = this.#reading && linkOf(this.#reading, this.#store.state.link);
    return link && this.#slid !== null ? withLimit(link, this.#slid) : link;
  }

  /** The interval of the series; before a first reading, of an ordinary scenario. */
  #interval(): string {
    if (!this.#reading) return seriesInterval(60, 10);
    const { duration_s: durationS, flows } = this.#reading.input;
    return seriesInterval(durationS, flows);
  }

  #pictures(): Snapshot["pictures"] {
    return [...this.#view.pictures, ...this.#tradeOff.pictures];
  }

  #snapshot(): Snapshot | null {
    const [reading, link] = [this.#reading, this.#link()];
    if (!reading || !link) return null;
    return {
      state: this.#store.state,
      reading,
      link,
      series: this.#series(),
      points: this.#study.state.points,
      pictures: this.#pictures(),
      document: this.#document(reading, link),
    };
  }

  #series(): Series | null {
    return this.#answer?.series ?? null;
  }

  #document(reading: Reading, link: Bottleneck): PageDocument {
    const title = reading.scenario["title"];
    const { summary } = this.#answer ?? {};
    return {
      title: typeof title === "string" ? title : "tailroom",
      parts: [
        {
          title: `Buffer of ${link.name}`,
          texts: [
            limitTexts(link, limitPackets(link)).join(", "),
            summary ? LiveView.words(summary, link.name) : "",
          ],
          pictures: this.#view.pictures,
          table: this.#view.table,
        },
        {
          title: "What each buffer costs",
          texts: [this.#tradeOff.verdict, this.#tradeOff.status],
          pictures: this.#tradeOff.pictures,
          table: this.#tradeOff.table,
        },
      ],
      scenario: this.#store.state.text,
      hash: reading.hash,
      build: this.#engine.build,
      address: window.location.href,
    };
  }

  #writeAddress(): void {
    clearTimeout(this.#addressTimer);
    this.#addressTimer = setTimeout(() => {
      void this.#addressOf(this.#store.state).then((address) => {
        window.history.replaceState(null, "", address);
        this.#keep.showAddress(address);
      });
    }, ADDRESS_MS);
  }

  async #addressOf(state: State): Promise<string> {
    const [page = ""] = window.location.href.split("#");
    const code = await encodeState(state);
    return code === null ? page : `${page}#${code}`;
  }
}

function limitValue(limit: number): string {
  return `"${limit} ${limit === 1 ? "packet" : "packets"}"`;
}

/** What the rules shall achieve: the targets, and what is usual where there is none. */
function requirementOf({ utilization, loss }: Targets): Requirement {
  const between = (value: number | null): number | null =>
    value !== null && value > 0 && value < 1 ? value : null;
  return {
    utilization: between(utilization) ?? DEFAULT_REQUIREMENT.utilization,
    loss: between(loss) ?? DEFAULT_REQUIREMENT.loss,
  };
}
