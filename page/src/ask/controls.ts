/** The form: the keys of the scenario that people ask about most. The editor has all of them. */

import { labelled, make } from "../dom";
import type { Component, Components, Problem } from "../engine/engine";
import { placeOf, queueKey, type Place } from "../scenario/place";
import { linkOf, type Reading } from "../scenario/reading";
import { inlineToml, valueAt, type Table } from "../scenario/text";
import {
  checkField,
  integerField,
  kindField,
  numberField,
  numberOrWordField,
  quantityField,
  rateField,
  type Edit,
  type Field,
} from "./fields";

/** Groups of flows that the form shows; the text has all of them. */
const MOST_GROUPS = 40;

/** Names of the kinds that only `tailroom explore FILE` offers. */
const ONLY_LOCAL = new Set(["custom"]);

/** The link of the form, and whether its pool has an alpha. */
interface ShownLink {
  link: string;
  place: Place;
  hasAlpha: boolean;
}

function shownLink(scenario: Table, link: string): ShownLink {
  const place = placeOf(scenario, link);
  const alpha = place.pool && valueAt(scenario, [...place.pool, "policy", "alpha"]);
  return { link, place, hasAlpha: typeof alpha === "number" };
}

export class Controls {
  readonly #host: HTMLElement;
  readonly #components: Components;
  readonly #edit: Edit;
  readonly #choose: (link: string) => void;
  #fields: Field[] = [];
  /** Links, groups and keys that the form was made for. */
  #shape = "";

  constructor(
    host: HTMLElement,
    components: Components,
    edit: Edit,
    choose: (link: string) => void,
  ) {
    this.#host = host;
    this.#components = components;
    this.#edit = edit;
    this.#choose = choose;
  }

  show(reading: Reading, chosen: string | null): void {
    const links = reading.input.crossed;
    const { scenario } = reading;
    const link = linkOf(reading, chosen)?.name;
    const shown = link === undefined ? null : shownLink(scenario, link);
    const groups = groupShapes(reading);
    const shape = JSON.stringify([shown, links, groups]);
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#build(shown, links, groups);
    }
    for (const field of this.#fields) field.show(scenario);
    this.complain([]);
  }

  complain(problems: Problem[]): void {
    for (const field of this.#fields) field.complain(problems);
  }

  #build(shown: ShownLink | null, links: string[], groups: [string, string[]][]): void {
    this.#fields = [];
    const parts: Node[] = [];
    if (shown) parts.push(this.#linkPart(shown, links));
    for (const [group, keys] of groups.slice(0, MOST_GROUPS)) {
      parts.push(this.#groupPart(group, keys));
    }
    if (groups.length > MOST_GROUPS) {
      const left = `The text has ${groups.length - MOST_GROUPS} more groups of flows.`;
      parts.push(make("p", { class: "quiet" }, left));
    }
    parts.push(
      this.#part("Run", [
        quantityField("Duration", ["duration"], this.#edit),
        quantityField("Statistics from", ["measure_from"], this.#edit),
        integerField("Seed", ["seed"], this.#edit),
      ]),
    );
    this.#host.replaceChildren(...parts);
  }

  #part(title: string, fields: Field[], ...before: Node[]): HTMLElement {
    this.#fields.push(...fields);
    const elements = fields.map((field) => field.element);
    return make("fieldset", {}, make("legend", {}, title), ...before, ...elements);
  }

  #linkPart({ link, place, hasAlpha }: ShownLink, links: string[]): HTMLElement {
    const { table, rate, delay, pool, words } = place;
    const fields = [
      rateField("Rate", [...table, rate], this.#edit),
      quantityField("Delay, one way", [...table, delay], this.#edit),
      kindField(
        "Queue",
        queueKey(place),
        this.#components.queue.filter(isOffered),
        queueValue(place),
        this.#edit,
      ),
      quantityField("Limit", queueKey(place, "limit"), this.#edit),
    ];
    if (pool) fields.push(quantityField("Memory of the pool", [...pool, "size"], this.#edit));
    if (pool && hasAlpha) {
      fields.push(numberField("Alpha of the pool", [...pool, "policy", "alpha"], this.#edit));
    }
    const title = words === link ? `Link “${link}”` : words.replace(/^e/, "E");
    if (links.length < 2) return this.#part(title, fields);
    const options = links.map((name) =>
      make("option", { value: name, selected: name === link }, name),
    );
    const select = make("select", {}, ...options);
    select.addEventListener("change", () => this.#choose(select.value));
    return this.#part(title, fields, labelled("Which link", select));
  }

  #groupPart(group: string, keys: string[]): HTMLElement {
    const at = ["flows", group];
    const has = (key: string): boolean => keys.includes(key);
    const fields: Field[] = [];
    if (has("count")) fields.push(numberField("Flows", [...at, "count"], this.#edit));
    if (has("congestion")) {
      const kinds = this.#components.congestion.filter(isOffered);
      const value = (kind: string): string => JSON.stringify(kind);
      fields.push(kindField("Congestion control", [...at, "congestion"], kinds, value, this.#edit));
    }
    fields.push(quantityField("RTT without queues", [...at, "rtt"], this.#edit));
    if (has("source.load")) {
      fields.push(numberField("Load, of the rate", [...at, "source", "load"], this.#edit));
    }
    if (has("source.rate")) {
      fields.push(rateField("Rate of a flow", [...at, "source", "rate"], this.#edit));
    }
    if (has("send_burst")) {
      fields.push(
        numberOrWordField("Packets sent together", [...at, "send_burst"], this.#edit),
        checkField("Paced", [...at, "pacing"], this.#edit),
      );
    }
    return this.#part(`Flows “${group}”`, fields);
  }
}

function isOffered(component: Component): boolean {
  return !ONLY_LOCAL.has(component.kind);
}

/**
 * Groups of flows, and which of the keys of the form each of them has. Flows that arrive and
 * depart are not counted.
 */
function groupShapes({ scenario, input }: Reading): [string, string[]][] {
  const keys = ["count", "congestion", "send_burst", "source.load", "source.rate"];
  const groups = Object.entries((scenario["flows"] ?? {}) as Table);
  const uncounted = new Set(
    input.links.flatMap(({ dynamic }) => dynamic.map(({ group }) => group)),
  );
  return groups.map(([name, group]) => [
    name,
    keys
      .filter((key) => valueAt(group, key.split(".")) !== undefined)
      .filter((key) => key !== "count" || !uncounted.has(name)),
  ]);
}

/** A queue of another kind keeps the limit, unless it is the memory of the pool. */
function queueValue(place: Place): (kind: string, scenario: Table) => string {
  return (kind, scenario) => {
    const limit = valueAt(scenario, queueKey(place, "limit"));
    const memory = place.pool && valueAt(scenario, [...place.pool, "size"]);
    return inlineToml(limit === undefined || limit === memory ? { kind } : { kind, limit });
  };
}
