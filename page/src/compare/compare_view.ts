/** Settings side by side. */

import { make, table } from "../dom";
import type { Answer, GroupSummary, LinkSummary } from "../engine/engine";
import type { Bottleneck } from "../rules/bottleneck";
import { limitTexts } from "../rules/buffer_units";
import { duration, loss, percent, plain, rate } from "../scenario/quantities";
import { completion } from "../see/completion";
import { jainIndex } from "../study/statistics";
import { LONGEST_NAME, MOST_KEPT } from "../state";
import { gradeAt } from "../verdict/grade";
import type { Compared } from "./kept_settings";

/** Groups that the table shows. */
const MOST_GROUPS = 12;

export class CompareView {
  readonly #keep: HTMLButtonElement;
  readonly #name = make("input", {
    type: "text",
    id: "setting-name",
    autocomplete: "off",
    maxlength: String(LONGEST_NAME),
  });
  readonly #list = make("ul", {});
  readonly #table = make("div", { class: "scrolls", tabindex: "0", role: "region" });
  readonly #onDrop: (place: number) => void;
  readonly #onTake: (place: number) => void;

  constructor(
    host: HTMLElement,
    onKeep: (name: string) => void,
    onTake: (place: number) => void,
    onDrop: (place: number) => void,
  ) {
    this.#onTake = onTake;
    this.#onDrop = onDrop;
    this.#table.setAttribute("aria-label", "Settings side by side");
    this.#keep = make("button", { type: "button" }, "Keep this setting");
    this.#keep.addEventListener("click", () => {
      onKeep(this.#name.value.trim());
      this.#name.value = "";
    });
    const note =
      "Keep a setting, then change the scenario, for instance its queue: both are drawn above and " +
      `stand side by side here. Up to ${MOST_KEPT} settings are kept.`;
    host.append(
      make("p", { class: "quiet" }, note),
      make(
        "div",
        { class: "row" },
        make("label", { for: "setting-name" }, "Name"),
        this.#name,
        this.#keep,
      ),
      this.#list,
      this.#table,
    );
  }

  show(list: Compared[], now: { answer: Answer | null; link: Bottleneck } | null): void {
    this.#keep.disabled = list.length >= MOST_KEPT;
    this.#list.replaceChildren(...list.map((one, place) => this.#entry(one, place)));
    this.#table.hidden = list.length === 0;
    if (list.length === 0) return;
    const columns: Column[] = [
      ...(now ? [{ name: "now", ...now }] : []),
      ...list.flatMap(({ kept, answer, link }) =>
        link ? [{ name: kept.name, answer, link }] : [],
      ),
    ];
    const rows = [...LINK_ROWS, ...groupRows(columns)].map(([label, valueOf]) => [
      label,
      ...columns.map(valueOf),
    ]);
    const head = ["", ...columns.map(({ name }) => name)];
    this.#table.replaceChildren(table("Settings side by side, one run each", head, rows));
  }

  #entry({ kept, fault }: Compared, place: number): HTMLElement {
    const take = make("button", { type: "button", click: () => this.#onTake(place) }, "Show");
    const drop = make("button", { type: "button", click: () => this.#onDrop(place) }, "Remove");
    take.setAttribute("aria-label", `Show ${kept.name}`);
    drop.setAttribute("aria-label", `Remove ${kept.name}`);
    const problem = fault ? make("p", { class: "complaint" }, fault) : null;
    return make("li", {}, `${kept.name} `, take, " ", drop, problem);
  }
}

interface Column {
  name: string;
  /** Null until the run has ended. */
  answer: Answer | null;
  link: Bottleneck;
}

type Row = [label: string, valueOf: (column: Column) => string];

const UNKNOWN = "–";

function ofLink(valueOf: (link: LinkSummary) => string): Row[1] {
  return ({ answer, link }) => {
    const summary = answer?.summary.links[link.name];
    return summary ? valueOf(summary) : UNKNOWN;
  };
}

const LINK_ROWS: Row[] = [
  ["Queue", ({ link }) => link.discipline],
  ["Limit", ({ link }) => limitTexts(link, link.buffer.steps)[0] ?? UNKNOWN],
  ["Utilization", ofLink((link) => percent(link.utilization))],
  ["Loss", ofLink((link) => loss(link.loss_fraction))],
  ["Queueing delay, mean", ofLink((link) => duration(link.queue_delay_s_mean))],
  ["Queueing delay, 99 %", ofLink((link) => duration(link.queue_delay_s_p99))],
  ["Marked packets", ofLink((link) => String(link.marks_packets))],
  ["Goodput of all flows", ({ answer }) => (answer ? rate(goodput(answer)) : UNKNOWN)],
  ["Jain's index", ({ answer }) => (answer ? jain(answer) : UNKNOWN)],
];

/** What each group of flows gets: who waits, who loses, who completes when. */
function groupRows(columns: Column[]): Row[] {
  const names = columns.flatMap(({ answer }) => Object.keys(answer?.summary.groups ?? {}));
  return [...new Set(names)].slice(0, MOST_GROUPS).flatMap((name) => {
    type ValueOf = (group: GroupSummary, link: Bottleneck) => string | null;
    const row = (label: string, valueOf: ValueOf): Row => [
      `${name}: ${label}`,
      ({ answer, link }) => {
        const group = answer?.summary.groups[name];
        return (group && valueOf(group, link)) || UNKNOWN;
      },
    ];
    const grade = row("grade", ({ queue_delay_s_p99: delay }, link) => gradeAt(link, delay));
    const complete = row("95 % complete in", (group) =>
      group.all_sizes ? completion(group) : null,
    );
    const hasCompletion = columns.some(({ answer }) => answer?.summary.groups[name]?.all_sizes);
    return [
      row("delay, 99 %", ({ queue_delay_s_p99: delay }) => duration(delay)),
      grade,
      row("loss", ({ loss_fraction: fraction }) => loss(fraction)),
      ...(hasCompletion ? [complete] : []),
    ];
  });
}

function goodput({ summary }: Answer): number {
  return Object.values(summary.groups).reduce((sum, group) => sum + group.goodput_bps, 0);
}

function jain({ summary }: Answer): string {
  const controlled = summary.flows.filter((flow) => flow.congestion !== null);
  const index = jainIndex(controlled.map((flow) => flow.goodput_bps));
  return index === null || controlled.length < 2 ? UNKNOWN : plain(index);
}
