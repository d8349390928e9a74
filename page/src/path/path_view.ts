/** A drawing of the path: the links one behind the other, how full their queues are, and their drops. */

import { make } from "../dom";
import type { Summary } from "../engine/engine";
import type { Level } from "../packets/samples";
import { plain } from "../scenario/quantities";
import type { Reading } from "../scenario/reading";
import { groupsAcross, rowsOf, type Node, type Row, type Stage } from "./stages";

/** Links of a row that are drawn with their names. */
const MOST_NAMED = 12;

/** The levels of the links, and what they are. */
interface Levels {
  of: ReadonlyMap<string, Level>;
  words: string;
}

/** A link of the drawing. */
interface Drawn {
  link: string;
  /** Where its name and its level stand in words; null where only its node has words. */
  text: HTMLElement | null;
  element: HTMLElement;
  fill: HTMLElement;
}

export class PathView {
  readonly #rows = make("div", { class: "rows" });
  readonly #words = make("p", { class: "quiet" });
  readonly #onLink: (link: string) => void;
  /** Links and groups that the drawing was made for. */
  #shape = "";
  #drawn: Drawn[] = [];
  /** Stages in words, for those whose links have none. */
  #stages: { links: string[]; text: HTMLElement }[] = [];
  readonly #limits = new Map<string, number>();
  #run: Levels | null = null;
  #moment: Levels | null = null;

  constructor(host: HTMLElement, onLink: (link: string) => void) {
    this.#onLink = onLink;
    host.append(make("h3", {}, "Path"), this.#rows, this.#words);
  }

  /** Draws the links of a scenario; `chosen` is the one that the page asks about. */
  about(reading: Reading, chosen: string): void {
    for (const link of reading.input.links)
      this.#limits.set(link.name, link.amounts_packets["limit"] ?? NaN);
    const rows = rowsOf(reading);
    const shape = JSON.stringify([rows, reading.scenario["flows"]]);
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#build(rows, reading);
    }
    for (const { link, element } of this.#drawn) {
      element.toggleAttribute("data-chosen", link === chosen);
      if (element instanceof HTMLButtonElement)
        element.setAttribute("aria-pressed", String(link === chosen));
    }
    this.#write();
  }

  /** Another scenario: no number of the one before is left. */
  blank(): void {
    this.#run = null;
    this.#moment = null;
    this.#write();
  }

  /** The numbers are not those of the present setting any more. */
  past(): void {
    this.#moment = null;
    this.#rows.classList.add("past");
    this.#write();
  }

  answer({ links }: Summary): void {
    const levels = Object.entries(links).map(([name, link]): [string, Level] => [
      name,
      { queue: link.queue_packets_mean, drops: link.drops_packets },
    ]);
    const words = "Mean queues, and drops, of the measured part of this run.";
    this.#run = { of: new Map(levels), words };
    this.#rows.classList.remove("past");
    this.#write();
  }

  /** Shows a moment of the run instead of its means. */
  moment(timeS: number, of: ReadonlyMap<string, Level>): void {
    const words = `Queues at ${timeS.toFixed(3)} s, and drops since the packets below began.`;
    this.#moment = { of, words };
    this.#write();
  }

  #build(rows: Row[], reading: Reading): void {
    this.#drawn = [];
    this.#stages = [];
    const end = (name: string): HTMLElement => make("li", { class: "quiet" }, name);
    const drawn = rows.map((row) => {
      const isNamed = row.flatMap(linksOf).length <= MOST_NAMED;
      const stages = row.map((stage) =>
        make("li", {}, isNamed ? this.#named(stage, reading) : this.#small(stage)),
      );
      return make("ol", { class: "stages" }, end("senders"), ...stages, end("receivers"));
    });
    this.#rows.replaceChildren(...drawn);
  }

  /** A stage whose links have their names and levels. */
  #named({ nodes }: Stage, reading: Reading): HTMLElement {
    const parts = nodes.map((node) =>
      nodeElement(
        node,
        node.links.map((link) => this.#hop(link, reading)),
      ),
    );
    return make("div", {}, ...parts);
  }

  /** A stage of many links: each as a bar, and the stage in words. */
  #small(stage: Stage): HTMLElement {
    const links = linksOf(stage);
    const text = make("span", {});
    this.#stages.push({ links, text });
    const nodes = stage.nodes.map((node) => {
      const cells = node.links.map((link) => this.#cell(link));
      return nodeElement(node, [make("div", { class: "cells" }, ...cells)]);
    });
    const title = make("strong", {}, `${stage.name || "Links"}: ${plain(links.length)}`);
    return make("div", {}, title, make("div", { class: "nodes" }, ...nodes), text);
  }

  #hop(link: string, { scenario }: Reading): HTMLElement {
    const fill = make("span", { class: "fill" });
    const text = make("span", {});
    const groups = groupsAcross(scenario, link).join(", ");
    const element = make(
      "button",
      { type: "button", class: "hop", click: () => this.#onLink(link) },
      make("span", { class: "tank" }, fill),
      make(
        "span",
        { class: "words" },
        make("strong", {}, link),
        text,
        groups === "" ? null : make("span", { class: "quiet" }, groups),
      ),
    );
    this.#drawn.push({ link, text, element, fill });
    return element;
  }

  #cell(link: string): HTMLElement {
    const fill = make("span", { class: "fill" });
    const element = make("span", { class: "tank", "aria-hidden": "true", title: link }, fill);
    this.#drawn.push({ link, text: null, element, fill });
    return element;
  }

  #write(): void {
    const levels = this.#moment ?? this.#run;
    this.#words.textContent = levels?.words ?? "";
    for (const { link, text, fill, element } of this.#drawn) {
      const level = levels?.of.get(link);
      fill.style.height = `${100 * this.#share(link, level)}%`;
      element.toggleAttribute("data-drops", (level?.drops ?? 0) > 0);
      if (text) text.textContent = level ? levelText(level) : "–";
    }
    for (const { links, text } of this.#stages) text.textContent = stageText(links, levels?.of);
  }

  /** How full a queue is, in [0, 1]. */
  #share(link: string, level: Level | undefined): number {
    const limit = this.#limits.get(link) ?? Number.NaN;
    return level && limit > 0 ? Math.min(1, level.queue / limit) : 0;
  }
}

export function levelText({ queue, drops, present }: Level): string {
  const there = present === undefined ? `${plain(queue)} waiting` : `${plain(present)} at the link`;
  return `${there}, ${plain(drops, 6)} dropped`;
}

/** The longest queue of a stage, and all its drops. */
function stageText(links: string[], levels: ReadonlyMap<string, Level> | undefined): string {
  const known = links.flatMap((link) => {
    const level = levels?.get(link);
    return level ? [{ link, ...level }] : [];
  });
  const [first, ...others] = known;
  if (!first) return "–";
  const longest = others.reduce((most, one) => (one.queue > most.queue ? one : most), first);
  const drops = known.reduce((sum, one) => sum + one.drops, 0);
  const whose = longest.queue > 0 ? ` at ${longest.link}` : "";
  return `longest: ${plain(longest.queue)} waiting${whose}; ${plain(drops, 6)} dropped`;
}

function linksOf({ nodes }: Stage): string[] {
  return nodes.flatMap(({ links }) => links);
}

function nodeElement({ name }: Node, parts: HTMLElement[]): HTMLElement {
  if (name === "") return make("div", {}, ...parts);
  return make("div", { class: "node" }, make("span", { class: "quiet" }, name), ...parts);
}
