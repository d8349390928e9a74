/** The fields of the targets. */

import { labelled, make } from "../dom";
import {
  duration,
  loss,
  percent,
  plain,
  QuantityError,
  readDuration,
  readPercent,
  readUtilization,
} from "../scenario/quantities";
import { LARGEST_TARGETS, type LinkTarget, type Targets } from "../state";
import { GROUP } from "./point";

interface TargetField {
  label: string;
  most: number;
  read: (text: string) => number;
  /** The bound as the field shows it. */
  shown: (value: number) => string;
  /** What the page has understood. */
  understood: (value: number) => string;
}

const DURATION = {
  most: Infinity,
  read: readDuration,
  shown: (value: number): string => plain(1000 * value, 6),
};

const LINK: Record<LinkTarget, TargetField> = {
  utilization: {
    label: "Utilization at least (%)",
    most: LARGEST_TARGETS.utilization,
    read: readUtilization,
    shown: (value) => plain(100 * value, 6),
    understood: (value) => `at least ${percent(value, 1)} of the rate`,
  },
  delayS: {
    ...DURATION,
    label: "99 % of packets wait at most (ms)",
    understood: (value) => `99 of 100 packets wait at most ${duration(value)}`,
  },
  loss: {
    label: "Loss at most (%)",
    most: LARGEST_TARGETS.loss,
    read: readPercent,
    shown: (value) => plain(100 * value, 6),
    understood: (value) =>
      value > 0 ? `at most ${loss(value)}, one packet in ${plain(1 / value)}` : "no packet lost",
  },
};

/** A group in the fields of targets. */
export interface TargetGroup {
  name: string;
  /** Whether its flows arrive and depart. */
  completes: boolean;
}

/** Groups that have fields of their own; an address may have targets for more. */
const MOST_GROUPS = 8;

export class TargetFields {
  readonly #onTargets: (targets: Partial<Targets>) => void;
  readonly #groups = make("div", { class: "fields" });
  readonly #details: HTMLDetailsElement;
  #shows: ((targets: Targets) => void)[] = [];
  #groupShows: ((targets: Targets) => void)[] = [];
  #shape = "";
  #targets: Targets | null = null;

  constructor(host: HTMLElement, onTargets: (targets: Partial<Targets>) => void) {
    this.#onTargets = onTargets;
    const fields = Object.entries(LINK).map(([key, field]) =>
      this.#field(
        field,
        (targets) => targets[key as LinkTarget],
        (value) => ({ [key]: value }),
        this.#shows,
      ),
    );
    this.#details = make("details", {}, make("summary", {}, "Targets of a group"), this.#groups);
    host.append(make("fieldset", {}, make("legend", {}, "Targets"), ...fields, this.#details));
  }

  show(targets: Targets): void {
    this.#targets = targets;
    for (const show of [...this.#shows, ...this.#groupShows]) show(targets);
    if (Object.keys(targets.groups).length > 0) this.#details.open = true;
  }

  /** Makes the fields of a scenario's groups. */
  about(groups: TargetGroup[]): void {
    const shape = JSON.stringify(groups);
    if (shape === this.#shape) return;
    this.#shape = shape;
    this.#groupShows = [];
    this.#groups.replaceChildren(...groups.slice(0, MOST_GROUPS).flatMap((one) => this.#of(one)));
    if (this.#targets) this.show(this.#targets);
  }

  #of({ name, completes }: TargetGroup): HTMLElement[] {
    const wait: TargetField = {
      ...DURATION,
      label: `99 % of the packets of ${name} wait at most (ms)`,
      understood: (value) => `99 of 100 packets wait at most ${duration(value)}`,
    };
    const complete: TargetField = {
      ...DURATION,
      label: `95 % of the flows of ${name} complete within (ms)`,
      understood: (value) => `95 of 100 flows complete within ${duration(value)}`,
    };
    const fields: [string, TargetField][] = [[`${name}.${GROUP.delayP99}`, wait]];
    if (completes) fields.push([`${name}.${GROUP.completion}`, complete]);
    return fields.map(([metric, field]) =>
      this.#field(
        field,
        ({ groups }) => groups[metric] ?? null,
        (value) => ({ groups: withBound(this.#targets?.groups ?? {}, metric, value) }),
        this.#groupShows,
      ),
    );
  }

  #field(
    field: TargetField,
    valueOf: (targets: Targets) => number | null,
    changed: (value: number | null) => Partial<Targets>,
    shows: ((targets: Targets) => void)[],
  ): HTMLElement {
    const input = make("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
    const note = make("p", { class: "quiet" });
    const say = (text: string, isWrong: boolean): void => {
      note.textContent = text;
      note.className = isWrong ? "complaint" : "quiet";
      if (isWrong) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    };
    input.addEventListener("change", () => {
      const said = read(field, input.value);
      if (typeof said === "string") say(said, true);
      else this.#onTargets(changed(said));
    });
    shows.push((targets) => {
      const value = valueOf(targets);
      if (document.activeElement !== input) input.value = value === null ? "" : field.shown(value);
      say(value === null ? "" : `Understood: ${field.understood(value)}`, false);
    });
    const element = labelled(field.label, input, note);
    note.id = `${input.id}-note`;
    input.setAttribute("aria-describedby", note.id);
    return element;
  }
}

function withBound(
  groups: Targets["groups"],
  metric: string,
  bound: number | null,
): Targets["groups"] {
  const others = Object.entries(groups).filter(([other]) => other !== metric);
  return Object.fromEntries(bound === null ? others : [...others, [metric, bound]]);
}

/** The bound, null for no target, or what is wrong with the text. */
function read(field: TargetField, text: string): number | null | string {
  if (text.trim() === "") return null;
  try {
    const bound = field.read(text);
    if (bound >= 0 && bound <= field.most) return bound;
    return field.most === Infinity ? "give a time of 0 ms or more" : "give a number from 0 to 100";
  } catch (error) {
    if (error instanceof QuantityError) return error.message;
    throw error;
  }
}
