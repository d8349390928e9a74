/** The parts of the page, tied together: the state goes to the engine, answers go to the pictures. */

import { Controls } from "./ask/controls";
import { Editor } from "./ask/editor";
import { PresetChoice } from "./ask/preset_choice";
import { CompareView } from "./compare/compare_view";
import { KeptSettings } from "./compare/kept_settings";
import { announce, find, isShown, whenSeen } from "./dom";
import { problemText, type Answer, type Problem } from "./engine/engine";
import type { OpenedScenario } from "./engine/page_scenario";
import type { Engine } from "./engine/pool";
import { Disciplines } from "./frontier/disciplines";
import { costOf } from "./frontier/cost";
import { frontierOf } from "./frontier/frontier_of";
import { FrontierView } from "./frontier/frontier_view";
import { addressOf } from "./keep/address";
import { documentOf } from "./keep/page_document";
import { KeepView, type Snapshot } from "./keep/keep_view";
import { MeasuredView } from "./measured/measured_view";
import { notice, over } from "./notice";
import { converted, withLimit, type Bottleneck, type Buffer } from "./rules/bottleneck";
import { Paced } from "./paced_work";
import { PacketsView } from "./packets/packets_view";
import { subjectOf } from "./packets/span";
import { PathView } from "./path/path_view";
import { limitText, limitTexts, limitToml } from "./rules/buffer_units";
import { adviceFor, requirementOf, type Advice } from "./rules/rules";
import { ruleMarks, RulesView } from "./rules/rules_view";
import { placeOf, queueKey, setKeyOfLink, type Place } from "./scenario/place";
import { PRESETS } from "./scenario/presets";
import {
  linkOf,
  problemsOf,
  questionOf,
  Reader,
  seedOfScenario,
  type Reading,
} from "./scenario/reading";
import { TextError } from "./scenario/text";
import { BufferSlider, Largest } from "./see/buffer_slider";
import { Live } from "./see/live";
import { intervalFor, limitOf } from "./see/live_pictures";
import { LiveView } from "./see/live_view";
import type { State, Store, Targets } from "./state";
import { addThemeSwitch } from "./style/theme_switch";
import {
  answerOf,
  answerText,
  refusalText,
  targetsOf,
  targetsWith,
  type SizeAnswer,
} from "./study/answer";
import { ownLimitAxis, withValue, type Axis } from "./study/axis";
import { GROUP, measure, metricOf, pointAt } from "./study/point";
import { Paired } from "./study/paired_runs";
import { Study, type Subject } from "./study/study";
import type { Target } from "./study/target";
import { TargetFields } from "./study/target_fields";
import { TradeOffView } from "./study/trade_off_view";
import { othersAt, priceOf, type Instead } from "./verdict/instead";
import { neighboursOf } from "./verdict/neighbours";
import { VerdictView } from "./verdict/verdict_view";
import { groupNames, whoOf } from "./verdict/who";

/** Studies go on after this time without a new question. */
const IDLE_MS = 300;
/** A slider that has not moved for this time has stopped. */
const SETTLED_MS = 100;

/** Results of studies are drawn at most once in this time, and while packets move. */
const STILL_MS = 100;
const MOVING_MS = 1000;

export class Page {
  readonly #engine: Engine;
  readonly #store: Store;
  readonly #reader: Reader;
  readonly #live: Live;
  readonly #showing: Paced;
  readonly #study: Study;
  /** Half and twice of the buffer, and another discipline, with the seeds of the present one. */
  readonly #paired: Paired;
  readonly #largest = new Largest();
  readonly #kept: KeptSettings;
  readonly #editor: Editor;
  readonly #presets: PresetChoice;
  readonly #controls: Controls;
  readonly #slider: BufferSlider;
  readonly #view: LiveView;
  readonly #path: PathView;
  readonly #packets: PacketsView;
  readonly #verdict: VerdictView;
  readonly #disciplines: Disciplines;
  readonly #frontier: FrontierView;
  readonly #tradeOff: TradeOffView;
  readonly #targets: TargetFields;
  readonly #rules: RulesView;
  readonly #compare: CompareView;
  readonly #measured: MeasuredView;
  readonly #keep: KeepView;
  /** The limit that the slider is setting, while the change of the state is being told. */
  #sliding: number | null = null;
  /** The limit of the text where the slider has set it and the text is not read yet. */
  #slid: number | null = null;
  #reading: Reading | null = null;
  #advice: Advice[] = [];
  /** The answer to the question of the present text; null while it is simulated. */
  #answer: Answer | null = null;
  /** Time that the last run took. */
  #wallMs: number | null = null;
  /** Whether the verdict or the frontier has been on the screen: where the page is a part of another, a
   * visitor may never scroll to it. */
  #seen = false;
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
      onFault: (error) => this.#onFault(error),
    });
    // Studies end many runs per second, and what moves on the page shall not stop for each.
    this.#showing = new Paced(
      () => this.#showStudy(),
      () => (this.#packets.isPlaying ? MOVING_MS : STILL_MS),
    );
    this.#paired = new Paired(engine, () => this.#showing.soon());
    this.#study = new Study(engine, () => this.#showing.soon());
    this.#kept = new KeptSettings(engine, () => this.#showing.soon());
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
    this.#slider = new BufferSlider(find("slider"), (limit) => this.#setLimit(limit));
    this.#view = new LiveView(find("live"), (link) => store.change({ link }));
    this.#path = new PathView(find("path"), (link) => store.change({ link }));
    this.#packets = new PacketsView(find("packets"), engine, (timeS, levels) =>
      this.#path.moment(timeS, levels),
    );
    this.#verdict = new VerdictView(find("verdict-text"), {
      onLimit: (buffer) => this.#setBuffer(buffer),
      onStep: (steps) => this.#slider.step(steps),
      onWho: (who) => store.change({ who }),
      onInstead: ({ axis, value }) => this.#choose(axis, value),
    });
    this.#disciplines = new Disciplines(engine, () => this.#showing.soon());
    this.#frontier = new FrontierView(find("frontier"), ({ axis, value }) =>
      this.#choose(axis, value),
    );
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
    this.#measured = new MeasuredView(find("measured"), (text) =>
      store.change({ text, link: null }),
    );
    this.#keep = new KeepView(find("share"), find("exports"), find("elsewhere"), () =>
      this.#snapshot(),
    );
    addThemeSwitch(find("theme"), () => {
      const { charts } = this.#view;
      const others = [this.#frontier.chart, ...this.#tradeOff.charts, ...this.#measured.charts];
      for (const chart of [...charts, ...others]) chart.restyle();
      this.#packets.restyle();
    });
    store.subscribe((state, before) => this.#onState(state, before));
    whenSeen(["verdict", "frontier"], () => {
      this.#seen = true;
      this.#goOn();
    });
  }

  async start(): Promise<void> {
    const { text, kept, targets } = this.#store.state;
    this.#editor.show(text);
    this.#presets.show(text);
    this.#targets.show(targets);
    this.#showAddress();
    await this.#follow(text);
    // Shown at once, so that nothing moves while the parts are filled.
    find("main").hidden = false;
    if (kept.length > 0) this.#kept.show(kept, this.#asked());
    this.#showStudy();
  }

  #onState(state: State, before: State): void {
    if (state.targets !== before.targets) this.#onTargets(state.targets);
    if (state.kept !== before.kept) this.#kept.show(state.kept, this.#asked());
    if (state.text !== before.text) {
      this.#editor.show(state.text);
      this.#presets.show(state.text);
      void this.#follow(state.text);
    } else if (state.link !== before.link && this.#reading) {
      this.#onReading(this.#reading);
    } else if (state.who !== before.who) this.#watchOthers();
    this.#showAddress();
  }

  /** Reads and runs a text. */
  async #follow(text: string): Promise<void> {
    this.#pause();
    clearTimeout(this.#settled);
    this.#answer = null;
    this.#view.past();
    this.#path.past();
    this.#packets.forget();
    if (this.#sliding !== null) this.#slide(text, this.#sliding);
    else if (await this.#reader.read(text)) this.#ask(text);
  }

  /** Runs a text of which only the limit is new; it is read when the slider has stopped. */
  #slide(text: string, limit: number): void {
    this.#slid = limit;
    const [link, place] = [this.#link(), this.#place()];
    if (link && place) this.#view.limit(limitOf(link, place, text));
    this.#reader.forget();
    this.#ask(text);
    this.#showVerdict();
    this.#settled = setTimeout(() => void this.#reader.read(text), SETTLED_MS);
  }

  /** Other packets are watched: values that could not be told apart by those before may be so by these. */
  #watchOthers(): void {
    const [reading, link] = [this.#reading, this.#link()];
    if (!reading || !link) return;
    this.#aboutStudy(reading, link);
    this.#goOn();
  }

  #onTargets(targets: Targets): void {
    this.#targets.show(targets);
    const link = this.#link();
    if (!this.#reading || !link) return;
    this.#aboutStudy(this.#reading, link);
    this.#kept.aim(this.#asked());
    this.#keep.show(this.#reading, link, this.#store.state);
    this.#goOn();
  }

  #onReading(reading: Reading): void {
    if (reading !== this.#reading && this.#slid === null) {
      this.#view.blank();
      this.#path.blank();
    }
    over("scenario");
    this.#verdict.past(false);
    this.#reading = reading;
    this.#slid = null;
    const { link: chosen } = this.#store.state;
    const link = linkOf(reading, chosen);
    this.#editor.complain([]);
    this.#controls.show(reading, chosen);
    if (!link) return;
    const place = placeOf(reading.scenario, link.name);
    this.#slider.show(link, place, reading, this.#largest.of(reading, link, place));
    this.#path.about(reading, link.name);
    const { measure_from_s: measuredFromS, duration_s: durationS } = reading.input;
    this.#view.about(
      link,
      limitOf(link, place, reading.text),
      { measuredFromS, durationS },
      seedOfScenario(reading),
    );
    const completing = new Set(link.dynamic.map(({ group }) => group));
    this.#targets.about(
      groupNames(reading).map((name) => ({ name, completes: completing.has(name) })),
    );
    this.#aboutStudy(reading, link);
    this.#keep.show(reading, link, this.#store.state);
    this.#goOn();
  }

  #onProblems(problems: Problem[]): void {
    this.#editor.complain(problems);
    this.#controls.complain(problems);
    this.#view.past();
    this.#path.past();
    this.#verdict.past(true);
    this.#view.fault("These pictures are of the scenario before.");
    const [first] = problems;
    const text = first ? problemText(first) : "";
    notice("scenario", `The scenario has a problem, so it is not simulated: ${text}`);
  }

  #onFault(error: unknown): void {
    const text = problemsOf(error)
      .map((one) => one.problem)
      .join(" ");
    this.#view.fault("There are no results of this scenario.");
    notice("engine", `The run failed: ${text}`);
  }

  #onAnswer(answer: Answer, latencyMs: number): void {
    this.#answer = answer;
    this.#wallMs = answer.wallMs;
    over("engine");
    this.#view.answer(answer);
    this.#measured.answer(answer);
    this.#path.answer(answer.summary);
    const now = performance.now();
    performance.measure("question to answer", { start: now - latencyMs, end: now });
    const link = this.#link();
    if (link) {
      announce(LiveView.words(answer.summary, link.name));
      this.#compare.show(this.#kept.list, { answer, link });
      this.#showVerdict();
    }
    this.#aboutPackets();
    this.#goOn();
  }

  /** The packets of the scenario can be watched once its run has ended and its text is read. */
  #aboutPackets(): void {
    const [reading, link, answer] = [this.#reading, this.#link(), this.#answer];
    if (!reading || !link || !answer) return;
    const { text } = this.#store.state;
    this.#packets.about(
      subjectOf({ text, input: reading.input, link, who: this.#who(link), answer }),
    );
  }

  #ask(text: string): void {
    this.#pause();
    this.#live.ask(questionOf(text, { "series.interval": intervalFor(this.#reading) }));
  }

  /** Ends the runs of all studies, so that the live run has the engine for itself. */
  #pause(): void {
    clearTimeout(this.#idle);
    this.#study.pause();
    this.#kept.pause();
    this.#paired.pause();
    this.#disciplines.pause();
  }

  /** Takes the studies up when the live run has ended and nothing else is asked for a while. */
  #goOn(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#live.busy || this.#tradeOff.isPaused || this.#wallMs === null) return;
      if (isShown("verdict", "frontier", "trade-off")) this.#study.go(this.#wallMs);
      if (isShown("verdict")) this.#paired.go(this.#wallMs);
      this.#kept.go(this.#wallMs);
      if (this.#seen) this.#disciplines.go(this.#wallMs, isShown("frontier"));
    }, IDLE_MS);
  }

  #aboutStudy(reading: Reading, link: Bottleneck): void {
    this.#advice = adviceFor(link, requirementOf(this.#store.state.targets));
    this.#rules.show(this.#advice);
    const place = placeOf(reading.scenario, link.name);
    const { steps } = link.buffer;
    const also = Number.isFinite(steps) ? [steps] : [];
    const subject = {
      text: reading.text,
      link: link.name,
      queue: queueKey(place),
      axis: ownLimitAxis(link),
      largest: this.#largest.of(reading, link, place),
      seed: seedOfScenario(reading),
      effort: { also, curve: null },
    };
    this.#study.about(subject, this.#asked());
    this.#aboutCurves(reading, link, subject);
    // No number of the scenario before stays.
    this.#showing.now();
  }

  #aboutCurves({ scenario }: Reading, link: Bottleneck, subject: Subject): void {
    const who = this.#who(link);
    const metrics = [costOf(link, who).metric, metricOf(who, GROUP.delayP99)];
    const place = placeOf(scenario, link.name);
    this.#disciplines.about({ subject, link, place, scenario, metrics });
  }

  /** The targets that the scenario can meet or miss: those of its own groups. */
  #asked(): Target[] {
    return targetsOf(this.#targetsHere());
  }

  #targetsHere(): Targets {
    return targetsWith(this.#store.state.targets, this.#reading ? groupNames(this.#reading) : []);
  }

  #who(link: Bottleneck): string {
    return this.#reading ? whoOf(this.#reading, link, this.#store.state.who) : "";
  }

  #sizeAnswer(): SizeAnswer | null {
    const { points, runs, search } = this.#study.state;
    const asked = this.#asked();
    return asked.length > 0 && runs > 0 ? answerOf(points, asked, search) : null;
  }

  #showVerdict(): void {
    const link = this.#link();
    if (!link || !this.#reading) return;
    const { state } = this.#study;
    const answer = this.#sizeAnswer();
    const amounts = (limit: number): string => limitTexts(link, limit).join(", ");
    const valueOf = (limit: number): string => limitText(link.buffer.unit, limit);
    const text = answer
      ? answerText(answer, this.#asked(), amounts, valueOf) + refusalText(state.search)
      : "";
    const groups = groupNames(this.#reading);
    const others = othersAt(this.#disciplines, link, state.points, this.#who(link));
    const best = others && typeof others !== "string" ? others.best : null;
    const neighbours = this.#neighbours(link, best);
    const { own } = this.#paired;
    this.#verdict.show({
      link,
      who: this.#who(link),
      groups,
      own,
      points: state.points,
      neighbours: neighbours.map(([name, steps]) => ({
        name,
        amount: valueOf(steps),
        point: this.#paired.pointOf(name),
      })),
      price: best && priceOf(own, this.#paired.pointOf(best.kind), groups),
      run: this.#answer && measure(this.#answer.summary, link.name),
      answer,
      answerText: text,
      others,
    });
    if (answer && state.done) announce(text);
  }

  /** Asks for runs of half and twice of the buffer, and of the best other discipline, with the seeds of the
   * present setting. */
  #neighbours(link: Bottleneck, best: Instead | null): [name: string, steps: number][] {
    const { steps } = link.buffer;
    const { subject, points } = this.#study.state;
    if (!subject || this.#slid !== null || !Number.isFinite(steps)) return [];
    const most = this.#place()?.pool ? subject.largest : Infinity;
    const { buffers, paired } = neighboursOf(subject, steps, most, best);
    this.#paired.about(paired, pointAt(points, steps));
    return buffers;
  }

  #showStudy(): void {
    const link = this.#link();
    if (!link) return;
    // Buffers in another unit are other buffers.
    const { unit } = link.buffer;
    const others = this.#kept.list
      .filter((one) => one.link?.buffer.unit === unit)
      .map(({ kept, study }) => ({ name: kept.name, points: study.state.points }));
    const { state } = this.#study;
    this.#slider.beginAt(state.smallest ?? 1);
    this.#showVerdict();
    this.#frontier.show(
      frontierOf(
        link,
        this.#who(link),
        state,
        this.#disciplines,
        this.#sizeAnswer()?.limit ?? null,
        this.#targetsHere(),
      ),
    );
    this.#tradeOff.show({
      state,
      link,
      targets: this.#targetsHere(),
      who: this.#who(link),
      answer: this.#sizeAnswer(),
      rules: ruleMarks(this.#advice, (count) => converted(link, count, "packets", unit)),
      others,
    });
    this.#compare.show(this.#kept.list, { answer: this.#answer, link });
    this.#keep.name(this.#pictures());
  }

  /** Sets the limit to steps of its unit. */
  #setLimit(steps: number): void {
    const unit = this.#link()?.buffer.unit;
    if (unit) this.#setBuffer({ unit, steps });
  }

  #setBuffer(buffer: Buffer): void {
    const [link, place] = [this.#link(), this.#place()];
    if (!link || !place) return;
    this.#sliding = buffer.unit === link.buffer.unit ? buffer.steps : null;
    this.#edit(queueKey(place, "limit"), limitToml(buffer));
    this.#sliding = null;
  }

  /** Takes a point of the frontier as the setting. */
  #choose(axis: Axis, value: number): void {
    const place = this.#place();
    if (!place) return;
    if (axis.kind === null && axis.key === "limit") this.#setLimit(value);
    else this.#change((text) => withValue(text, queueKey(place), axis, value));
  }

  #edit(path: string[], value: string): void {
    this.#change((text) => setKeyOfLink(text, path, value));
  }

  #change(edit: (text: string) => string): void {
    try {
      this.#store.change({ text: edit(this.#store.state.text) });
    } catch (error) {
      if (!(error instanceof TextError)) throw error;
      const why = `The scenario is not valid TOML, so no control can change it: ${error.message}`;
      notice("scenario", why);
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

  #place(): Place | null {
    const link = this.#link();
    return this.#reading && link && placeOf(this.#reading.scenario, link.name);
  }

  #pictures(): Snapshot["pictures"] {
    const studied = [...this.#frontier.pictures, ...this.#tradeOff.pictures];
    return [...this.#view.pictures, ...studied, ...this.#measured.pictures];
  }

  #snapshot(): Snapshot | null {
    const [reading, link] = [this.#reading, this.#link()];
    if (!reading || !link) return null;
    return {
      state: this.#store.state,
      reading,
      link,
      series: this.#answer?.series ?? null,
      points: this.#study.state.points,
      pictures: this.#pictures(),
      document: documentOf({
        reading,
        link,
        state: this.#store.state,
        build: this.#engine.build,
        summary: this.#answer?.summary ?? null,
        verdict: this.#verdict.text,
        live: this.#view,
        frontier: this.#frontier,
        tradeOff: this.#tradeOff,
      }),
    };
  }

  #showAddress(): void {
    clearTimeout(this.#addressTimer);
    this.#addressTimer = setTimeout(() => {
      void addressOf(this.#store.state).then((address) => this.#keep.showAddress(address));
    }, SETTLED_MS);
  }
}
