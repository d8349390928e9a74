/** Wiring: the state goes to the engine, and its answers to the pictures. */

import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import { Controls } from "./ask/controls";
import { Editor } from "./ask/editor";
import { PresetChoice } from "./ask/preset_choice";
import { announce, find } from "./dom";
import { browserComponents, startBrowserEngine } from "./engine/browser";
import type { Engine } from "./engine/engine";
import { findLocalEngine } from "./engine/local";
import { sum, type Bottleneck } from "./rules/bottleneck";
import { DEFAULT_REQUIREMENT, type Requirement } from "./rules/rule";
import { adviceFor } from "./rules/rules";
import { RulesView, ruleMarks } from "./rules/rules_view";
import { PRESETS } from "./scenario/presets";
import { linkOf, problemsOf, questionOf, Reader, type Reading } from "./scenario/reading";
import { setKey } from "./scenario/text";
import { PlaceError } from "./scenario/toml_places";
import type { Chart } from "./pictures/chart";
import { BufferSlider, largestLimit } from "./see/buffer_slider";
import { Live } from "./see/live";
import { seriesInterval } from "./see/live_pictures";
import { LiveView } from "./see/live_view";
import { NO_TARGETS, Store, type Targets } from "./state";
import { targetsOf } from "./study/answer";
import { Study } from "./study/study";
import { TargetFields } from "./study/target_fields";
import { TradeOffView } from "./study/trade_off_view";
import { addThemeSwitch } from "./style/theme_switch";

/** The study goes on after this time without a new question. */
const IDLE_MS = 300;

async function start(): Promise<void> {
  const engine = (await findLocalEngine(browserComponents)) ?? (await startBrowserEngine());
  find("engine").textContent = engineText(engine);
  const first = engine.file?.text ?? PRESETS[0]?.text ?? "";
  wire(engine, new Store({ text: first, link: null, targets: NO_TARGETS, kept: [] }));
}

function engineText(engine: Engine): string {
  const place = engine.kind === "local" ? "on this computer" : "in this browser";
  return `Engine ${engine.build} ${place}, ${engine.workers} at a time`;
}

function wire(engine: Engine, store: Store): void {
  let reading: Reading | null = null;
  let lastRunMs: number | null = null;

  const edit = (path: string[], value: string): void => {
    try {
      store.change({ text: setKey(store.state.text, path, value) });
    } catch (error) {
      if (!(error instanceof PlaceError)) throw error;
      announce(`The scenario is not valid TOML, so no control can change it: ${error.message}`);
    }
  };

  const editor = new Editor(find("editor"), (text) => store.change({ text }));
  const presets = new PresetChoice(find("preset"), PRESETS, engine.file, (text) =>
    store.change({ text, link: null }),
  );
  const controls = new Controls(find("controls"), engine.components, edit, (link) =>
    store.change({ link }),
  );
  const slider = new BufferSlider(find("slider"), (limit) => {
    const link = current();
    if (link) edit(["links", link.name, "queue", "limit"], limitValue(limit));
  });
  const view = new LiveView(find("live"));
  const rules = new RulesView(find("rules"));
  const tradeOff = new TradeOffView(
    find("trade-off"),
    () => study.go(null),
    () => study.pause(),
  );
  const targets = new TargetFields(find("targets"), (part) =>
    store.change({ targets: { ...store.state.targets, ...part } }),
  );
  const charts = (): Chart[] => [...view.charts, ...tradeOff.charts];
  addThemeSwitch(find("theme"), () => charts().forEach((chart) => chart.restyle()));

  const current = (): Bottleneck | null => reading && linkOf(reading, store.state.link);

  const study = new Study(engine, () => showStudy());
  const showStudy = (): void => {
    const link = current();
    if (!link) return;
    const advice = adviceFor(link, requirementOf(store.state.targets));
    rules.show(advice);
    tradeOff.show({
      state: study.state,
      link,
      targets: store.state.targets,
      rules: ruleMarks(advice),
      others: [],
    });
  };
  /** Takes the study up when the live run has ended. */
  const goOn = (runMs: number): void => {
    if (!tradeOff.isPaused && !live.busy) study.go(runMs);
  };

  const live = new Live(engine, {
    onProgress: (progress) => view.progress(progress),
    onAnswer: (answer, latency) => {
      view.answer(answer);
      lastRunMs = answer.wallMs;
      performance.measure("tailroom: question to picture", {
        start: performance.now() - latency,
        end: performance.now(),
      });
      const link = current();
      if (link) announce(LiveView.words(answer.summary, link.name));
      setTimeout(() => goOn(answer.wallMs), IDLE_MS);
    },
    onFault: (error) =>
      view.fault(
        problemsOf(error)
          .map(({ problem }) => problem)
          .join(" "),
      ),
  });

  const reader = new Reader(
    engine,
    (next) => {
      reading = next;
      showReading(next);
    },
    (problems) => {
      editor.complain(problems);
      controls.complain(problems);
      announce(`The scenario has a problem: ${problems[0]?.problem ?? ""}`);
    },
  );

  const showReading = (next: Reading): void => {
    const link = linkOf(next, store.state.link);
    editor.complain([]);
    controls.show(next, store.state.link);
    if (!link) return;
    slider.show(link);
    const { measure_from_s: measuredFromS, duration_s: durationS } = next.input;
    view.about(link, { measuredFromS, durationS });
    aboutStudy(next, link);
  };

  const aboutStudy = (next: Reading, link: Bottleneck): void => {
    const seed = Number(next.scenario["seed"] ?? 1);
    const subject = { text: next.text, link: link.name, largest: largestLimit(link), seed };
    study.about(subject, targetsOf(store.state.targets));
    if (lastRunMs !== null) goOn(lastRunMs);
  };

  const ask = (text: string): void => {
    study.pause();
    live.ask(questionOf(text, { "series.interval": intervalOf(reading) }));
  };

  store.subscribe((state, before) => {
    if (state.targets !== before.targets) {
      targets.show(state.targets);
      const link = current();
      if (reading && link) aboutStudy(reading, link);
    }
    if (state.text !== before.text) {
      editor.show(state.text);
      presets.show(state.text);
      void reader.read(state.text);
      ask(state.text);
    } else if (state.link !== before.link && reading) {
      showReading(reading);
      ask(state.text);
    }
  });

  const text = store.state.text;
  editor.show(text);
  presets.show(text);
  void reader.read(text).then(() => {
    ask(text);
  });
  targets.show(store.state.targets);
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

function limitValue(limit: number): string {
  return `"${limit} ${limit === 1 ? "packet" : "packets"}"`;
}

/** The interval of the series; before a first reading, of an ordinary scenario. */
function intervalOf(reading: Reading | null): string {
  if (!reading) return seriesInterval(60, 10);
  const flows = sum(reading.input.groups.flatMap((group) => group.flows.map((one) => one.count)));
  return seriesInterval(reading.input.duration_s, flows);
}

start().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  find("engine").textContent = `The engine did not start: ${message}`;
  announce("The engine did not start");
});
