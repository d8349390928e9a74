/** Studies of the disciplines that are drawn with the scenario's own: each over what binds it. */

import type { Component } from "../engine/engine";
import type { Engine } from "../engine/pool";
import { secondsOf } from "../scenario/quantities";
import type { Axis } from "../study/axis";
import type { Point } from "../study/point";
import { Study, type Subject } from "../study/study";

const KINDS = ["drop_tail", "pie", "codel", "fq_codel"];
/** Targets from the default divided by this to the default times this. */
const SPAN = 8;
const US = 1e6;
/** After every other run. */
const PRIORITY = 0;
/** Curves are drawn unasked if a run is expected to take less time. */
const SHORT_RUN_MS = 4_000;

export interface DisciplineCurve {
  kind: string;
  axis: Axis;
  /** The default of a target, in the unit of the axis; null where a limit binds. */
  usual: number | null;
  points: Map<number, Point>;
  /** Whether no more runs follow. */
  done: boolean;
}

interface Entry {
  kind: string;
  axis: Axis;
  usual: number | null;
  range: { smallest: number; largest: number } | null;
  study: Study;
}

/** A target delay binds a queue that has one; a limit binds the others. */
function entryOf(kind: string, components: Component[], study: Study): Entry {
  const parameters = components.find((one) => one.kind === kind)?.parameters ?? [];
  const target = parameters.find(({ name }) => name === "target")?.default;
  if (typeof target !== "string") {
    const axis: Axis = { kind, key: "limit", unit: "packets" };
    return { kind, axis, usual: null, range: null, study };
  }
  const middle = Math.round(US * secondsOf(target));
  const range = { smallest: Math.round(middle / SPAN), largest: Math.round(middle * SPAN) };
  return { kind, axis: { kind, key: "target", unit: "us" }, usual: middle, range, study };
}

export class Disciplines {
  readonly #entries: Entry[];
  #own = "";
  #isLong = false;

  constructor(engine: Engine, onChange: () => void) {
    this.#entries = KINDS.map((kind) =>
      entryOf(kind, engine.components.queue, new Study(engine, onChange, PRIORITY)),
    );
  }

  /** Takes the scenario of a study, whose own discipline has a curve already if a limit binds it. */
  about(subject: Subject, own: string): void {
    this.#own = own;
    for (const { axis, usual, range, study } of this.#drawn()) {
      const effort = { also: usual === null ? [] : [usual], isCoarse: true };
      study.about({ ...subject, ...range, axis, effort }, []);
    }
  }

  go(runMs: number): void {
    this.#isLong = runMs > SHORT_RUN_MS;
    if (this.#isLong) return;
    for (const { study } of this.#drawn()) study.go(runMs);
  }

  pause(): void {
    for (const { study } of this.#entries) study.pause();
  }

  /** Whether a run takes so long that no curve is drawn. */
  get isLong(): boolean {
    return this.#isLong;
  }

  get curves(): DisciplineCurve[] {
    return this.#drawn().map(({ kind, axis, usual, study }) => ({
      kind,
      axis,
      usual,
      points: study.state.points,
      done: study.state.done,
    }));
  }

  /** Whether a target delay binds a discipline, so that its limit has no curve worth drawing. */
  isBoundByTarget(kind: string): boolean {
    return this.#entries.some((one) => one.kind === kind && one.axis.key === "target");
  }

  #drawn(): Entry[] {
    return this.#entries.filter(({ kind, axis }) => kind !== this.#own || axis.key === "target");
  }
}
