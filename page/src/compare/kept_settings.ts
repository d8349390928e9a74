/** Settings that are kept, and their studies and runs. */

import { isAbort, type Answer } from "../engine/engine";
import type { Engine } from "../engine/pool";
import type { Bottleneck } from "../rules/bottleneck";
import { linkOf, questionOf, seedOfScenario, type Reading } from "../scenario/reading";
import { placeOf, queueKey } from "../scenario/place";
import { parseToml } from "../scenario/text";
import { largestLimit } from "../see/buffer_slider";
import type { Kept } from "../state";
import { ownLimitAxis } from "../study/axis";
import { Study } from "../study/study";
import type { Target } from "../study/target";

const PRIORITY = 5;

/** A kept setting with what is known about it. */
export interface Compared {
  kept: Kept;
  study: Study;
  answer: Answer | null;
  /** Null until the setting is read. */
  link: Bottleneck | null;
  fault: string;
}

/** Reads, runs and studies the settings that are kept. */
export class KeptSettings {
  readonly #engine: Engine;
  readonly #onChange: () => void;
  #list: Compared[] = [];

  constructor(engine: Engine, onChange: () => void) {
    this.#engine = engine;
    this.#onChange = onChange;
  }

  get list(): Compared[] {
    return this.#list;
  }

  /** Takes the settings of the state; those that were there keep their runs. */
  show(kept: Kept[], targets: Target[]): void {
    const before = this.#list;
    this.#list = kept.map((one) => {
      const known = before.find(({ kept: other }) => other === one);
      return known ?? this.#begin(one, targets);
    });
    for (const gone of before) if (!this.#list.includes(gone)) gone.study.pause();
    this.#onChange();
  }

  /** Takes other targets. */
  aim(targets: Target[]): void {
    for (const { study } of this.#list) {
      const { subject } = study.state;
      if (subject) study.about(subject, targets);
    }
  }

  go(runMs: number): void {
    for (const { study } of this.#list) study.go(runMs);
  }

  pause(): void {
    for (const { study } of this.#list) study.pause();
  }

  #begin(kept: Kept, targets: Target[]): Compared {
    const study = new Study(this.#engine, () => this.#onChange());
    const compared: Compared = { kept, study, answer: null, link: null, fault: "" };
    void this.#run(compared, targets);
    return compared;
  }

  async #run(compared: Compared, targets: Target[]): Promise<void> {
    const question = questionOf(compared.kept.text);
    try {
      const [resolved, input, answer] = await Promise.all([
        this.#engine.resolve(question),
        this.#engine.modelInput(question),
        this.#engine.run(question, { signal: new AbortController().signal, priority: PRIORITY }),
      ]);
      const scenario = parseToml(resolved.scenario) ?? {};
      const reading: Reading = {
        text: compared.kept.text,
        scenario,
        resolved: resolved.scenario,
        hash: resolved.hash,
        input,
      };
      const link = linkOf(reading, compared.kept.link);
      compared.answer = answer;
      if (!link) return;
      compared.link = link;
      const seed = seedOfScenario(reading);
      const place = placeOf(scenario, link.name);
      const subject = {
        text: compared.kept.text,
        link: link.name,
        queue: queueKey(place),
        axis: ownLimitAxis(link),
        largest: largestLimit(link, place, scenario),
        seed,
      };
      compared.study.about(subject, targets);
      compared.study.go(answer.wallMs);
    } catch (error) {
      if (!isAbort(error)) compared.fault = error instanceof Error ? error.message : String(error);
    }
    this.#onChange();
  }
}
