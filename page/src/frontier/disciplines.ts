/** Studies of the curves of the frontier: of the present queue over what binds it, and of other queue
 * disciplines. */

import type { Engine } from "../engine/pool";
import { converted, rttOf, type Bottleneck } from "../rules/bottleneck";
import { rangeIn } from "../rules/buffer_units";
import { queueKey, type Place } from "../scenario/place";
import { parseToml, valueAt, type Table } from "../scenario/text";
import type { Axis } from "../study/axis";
import { COARSE, spread } from "../study/plan";
import type { Metric, Point } from "../study/point";
import { Study, type Subject } from "../study/study";
import { around, bindingsOf, respondsToMarks, type Binding } from "./binding";
import { madeForS, usualOf, type Usual } from "./usual";

/** Other disciplines, where the round trips are those that they are made for. */
const WITH_TARGETS = ["pie", "codel", "fq_codel"];
const US = 1e6;
/** Other disciplines come after every other run; the present queue with the study of its limit. */
const PRIORITY = { own: 1, other: 0 };
/** Curves of others are drawn unasked if a run is expected to take less time. */
const SHORT_RUN_MS = 4_000;
/** A queue has at most two axes of its own: of its discipline, and of its pool. */
const MOST_OWN = 2;

export interface DisciplineCurve {
  kind: string;
  axis: Axis;
  /** The default of a target, in the unit of the axis; null for the other axes. */
  usual: number | null;
  /** The longest round trip for which the discipline is made, and the mean one of the link's flows. */
  fit: { madeForS: number; rttS: number };
  points: Map<number, Point>;
  /** Whether no more runs follow. */
  done: boolean;
}

/** What the curves are about. */
export interface Asked {
  subject: Subject;
  link: Bottleneck;
  place: Place;
  /** The scenario with its defaults. */
  scenario: Table;
  /** What the picture shows. */
  metrics: (Metric | null)[];
}

interface Entry extends Binding {
  kind: string;
  usual: number | null;
  study: Study;
}

export class Disciplines {
  readonly #own: Study[];
  readonly #others: Map<string, Study>;
  readonly #usual: Usual;
  #asked: Asked | null = null;
  #entries: Entry[] = [];
  #isWhole = true;
  #isLong = false;

  constructor(engine: Engine, onChange: () => void) {
    const study = (priority: number): Study => new Study(engine, onChange, priority);
    this.#own = Array.from({ length: MOST_OWN }, () => study(PRIORITY.own));
    const kinds = ["drop_tail", "step_mark", ...WITH_TARGETS];
    this.#others = new Map(kinds.map((kind) => [kind, study(PRIORITY.other)]));
    this.#usual = usualOf(engine.components.queue);
  }

  /** Takes the scenario of a study. */
  about(asked: Asked): void {
    this.#asked = asked;
    const before = new Set(this.#entries.map(({ study }) => study));
    this.#entries = this.#entriesOf(asked);
    for (const { study } of this.#entries) before.delete(study);
    for (const study of before) study.pause();
    this.#tell();
  }

  /** Starts or goes on.
   *
   * @param isWhole - Whether curves are wanted, and not only the disciplines at their usual targets.
   */
  go(runMs: number, isWhole = true): void {
    this.#isLong = runMs > SHORT_RUN_MS;
    if (isWhole !== this.#isWhole) {
      this.#isWhole = isWhole;
      this.#tell();
    }
    for (const { study, axis, usual } of this.#entries) {
      const isOwn = axis.kind === null;
      if (isOwn ? isWhole : !this.#isLong && (isWhole || usual !== null)) study.go(runMs);
    }
  }

  pause(): void {
    for (const study of [...this.#own, ...this.#others.values()]) study.pause();
  }

  /** Whether a run takes so long that other disciplines are not tried. */
  get isLong(): boolean {
    return this.#isLong;
  }

  get curves(): DisciplineCurve[] {
    const rttS = this.#asked ? rttOf(this.#asked.link) : 0;
    return this.#entries.map(({ kind, axis, usual, study }) => ({
      kind,
      axis,
      usual,
      fit: { madeForS: madeForS(this.#usual, kind), rttS },
      points: study.state.points,
      done: study.state.done,
    }));
  }

  /** The axes on which the present queue has curves; none where its limit binds it. */
  get own(): Axis[] {
    return this.#entries.map(({ axis }) => axis).filter(({ kind }) => kind === null);
  }

  #tell(): void {
    const { subject, metrics } = this.#asked ?? {};
    if (!subject || !metrics) return;
    for (const { axis, values, usual, study } of this.#entries) {
      const also = usual === null ? [] : [usual];
      const curve = { values: this.#isWhole ? values : also, metrics };
      const [smallest = 1] = values;
      const largest = values.at(-1) ?? smallest;
      study.about({ ...subject, smallest, largest, axis, effort: { also, curve } }, []);
    }
  }

  #entriesOf({ subject, link, place, scenario }: Asked): Entry[] {
    const kind = link.discipline;
    const own = bindingsOf(scenario, link, place, this.#usual).flatMap((binding, at): Entry[] => {
      const study = this.#own[at];
      return study ? [{ ...binding, kind, usual: null, study }] : [];
    });
    const rttS = rttOf(link);
    const targetOf = (other: string): number | null =>
      WITH_TARGETS.includes(other) ? this.#usual(other, "target") : null;
    const isFast = WITH_TARGETS.every((other) => isTooLong(targetOf(other) ?? Infinity, rttS));
    const asksForMarks = isFast && respondsToMarks(scenario, link);
    const bindingTo = (other: string): Binding | null => {
      const usual = targetOf(other);
      if (usual !== null) return isTooLong(usual, rttS) ? null : targeted(other, usual);
      if (other === "drop_tail") return limited(subject, link);
      return asksForMarks ? marked(subject, link, place) : null;
    };
    const others = [...this.#others].flatMap(([other, study]): Entry[] => {
      const binding = other === kind ? null : bindingTo(other);
      const usual = targetOf(other);
      return binding ? [{ ...binding, kind: other, usual, study }] : [];
    });
    return [...own, ...others];
  }
}

/** Whether even the shortest target of a curve exceeds the round trips of the flows, as in a data
 * centre: the defaults are those of the Internet (RFC 8289 sec. 4.2). */
function isTooLong(usual: number, rttS: number): boolean {
  return rttS > 0 && (around(usual)[0] ?? 0) > US * rttS;
}

function targeted(kind: string, usual: number): Binding {
  return { axis: { kind, key: "target", unit: "us" }, values: around(usual) };
}

/** From one packet to the largest limit, in the unit of the scenario. */
function limited({ largest }: Subject, link: Bottleneck): Binding {
  const { unit } = link.buffer;
  const axis: Axis = { kind: "drop_tail", key: "limit", unit };
  const least = Math.ceil(converted(link, 1, "packets", unit));
  return { axis, values: spread(rangeIn(unit, least, Math.max(least, largest)), COARSE) };
}

/** Marks above a threshold, with the limit of the scenario. */
function marked({ text, largest }: Subject, link: Bottleneck, place: Place): Binding {
  const limit = valueAt(parseToml(text), queueKey(place, "limit"));
  const rest: Table = typeof limit === "string" ? { limit } : {};
  const packets = Math.floor(converted(link, largest, link.buffer.unit, "packets"));
  const most = Math.min(packets, Math.ceil(link.amounts_packets["limit"] ?? Infinity) - 1);
  const axis: Axis = { kind: "step_mark", key: "threshold", unit: "packets", rest };
  return { axis, values: spread({ smallest: 1, largest: Math.max(1, most) }, COARSE) };
}
