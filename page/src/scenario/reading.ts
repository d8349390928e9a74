/** What the engine reads in a scenario's text. */

import {
  RunFault,
  ScenarioFault,
  type ModelInput,
  type Problem,
  type Question,
} from "../engine/engine";
import type { Engine } from "../engine/pool";
import type { Bottleneck } from "../rules/bottleneck";
import { bufferOf } from "../rules/buffer_units";
import { placeOf } from "./place";
import { parseToml, type Table } from "./text";

export interface Reading {
  text: string;
  /** The scenario with its defaults, as tables. */
  scenario: Table;
  /** The same as TOML, and its hash. */
  resolved: string;
  hash: string | null;
  input: ModelInput;
}

/** The hash as the page shows it. */
export function hashText(hash: string | null): string {
  return hash ?? "not computed here, since it depends on the content of the scenario's files";
}

/** The seed of a scenario, exactly. */
export function seedOfScenario({ scenario }: Pick<Reading, "scenario">): bigint {
  const seed = scenario["seed"];
  return typeof seed === "bigint" || typeof seed === "number" ? BigInt(seed) : 1n;
}

export function questionOf(text: string, set: Record<string, string> = {}): Question {
  return { text, set, seed: null };
}

/** Reads the latest text, and forgets earlier ones that are not read yet. */
export class Reader {
  readonly #engine: Engine;
  readonly #onReading: (reading: Reading) => void;
  readonly #onProblems: (problems: Problem[]) => void;
  #asked = 0;

  constructor(
    engine: Engine,
    onReading: (reading: Reading) => void,
    onProblems: (problems: Problem[]) => void,
  ) {
    this.#engine = engine;
    this.#onReading = onReading;
    this.#onProblems = onProblems;
  }

  /** A reading in progress is of no interest any more. */
  forget(): void {
    this.#asked++;
  }

  /** Returns whether the text is a scenario and still the latest one. */
  async read(text: string): Promise<boolean> {
    const number = ++this.#asked;
    try {
      const question = questionOf(text);
      const [resolved, input] = await Promise.all([
        this.#engine.resolve(question),
        this.#engine.modelInput(question),
      ]);
      if (number !== this.#asked) return false;
      const scenario = parseToml(resolved.scenario) ?? {};
      const { hash } = resolved;
      this.#onReading({ text, scenario, resolved: resolved.scenario, hash, input });
      return true;
    } catch (error) {
      if (number === this.#asked) this.#onProblems(problemsOf(error));
      return false;
    }
  }
}

/** The problems that an error reports, for display. */
export function problemsOf(error: unknown): Problem[] {
  if (error instanceof ScenarioFault) return error.problems;
  const problem =
    error instanceof RunFault || error instanceof Error ? error.message : String(error);
  return [{ line: null, key: "", problem, remedy: "" }];
}

/** The link of a reading that the page asks about: the chosen one if there is such a link. */
export function linkOf(reading: Reading, chosen: string | null): Bottleneck | null {
  const { crossed } = reading.input;
  const name = chosen !== null && crossed.includes(chosen) ? chosen : defaultLink(reading);
  const link = reading.input.links.find((one) => one.name === name);
  return link ? { ...link, buffer: bufferOf(link, reading.scenario) } : null;
}

/** The busiest link; in place of a host's interface, whose queue is long, the first port as fast. */
function defaultLink({ scenario, input: { links, crossed, busiest } }: Reading): string {
  if (!placeOf(scenario, busiest).isInterface) return busiest;
  const rateOf = (name: string): number | undefined =>
    links.find((link) => link.name === name)?.rate_bps;
  const rate = rateOf(busiest);
  const isPort = (name: string): boolean =>
    rateOf(name) === rate && !placeOf(scenario, name).isInterface;
  return crossed.find(isPort) ?? busiest;
}
