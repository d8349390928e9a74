/** Settings side by side. */

import { make, table } from "../dom";
import type { Answer } from "../engine/engine";
import { limitPackets, type Bottleneck } from "../rules/bottleneck";
import { limitTexts } from "../rules/buffer_units";
import { duration, loss, percent, plain, rate } from "../scenario/quantities";
import { jainIndex } from "../study/statistics";
import { LONGEST_NAME, MOST_KEPT } from "../state";
import type { Compared } from "./kept";

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

  show(list: Compared[], now: { answer: Answer; link: Bottleneck } | null): void {
    this.#keep.disabled = list.length >= MOST_KEPT;
    this.#list.replaceChildren(...list.map((one, place) => this.#entry(one, place)));
    this.#table.hidden = list.length === 0;
    if (list.length === 0) return;
    const columns = [
      ...(now ? [{ name: "now", ...now }] : []),
      ...list.flatMap(({ kept, answer, link }) =>
        answer && link ? [{ name: kept.name, answer, link }] : [],
      ),
    ];
    const values = columns.map(({ answer, link }) => valuesOf(answer, link));
    const rows = ROWS.map((label, row) => [label, ...values.map((column) => column[row] ?? "–")]);
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

const ROWS = [
  "Queue",
  "Limit",
  "Utilization",
  "Loss",
  "Queueing delay, mean",
  "Queueing delay, 99 %",
  "Marked packets",
  "Goodput of all flows",
  "Jain's index",
];

function valuesOf({ summary }: Answer, bottleneck: Bottleneck): string[] {
  const link = summary.links[bottleneck.name];
  if (!link) return [];
  const goodput = Object.values(summary.groups).reduce((sum, group) => sum + group.goodput_bps, 0);
  const controlled = summary.flows.filter((flow) => flow.congestion !== null);
  const jain = jainIndex(controlled.map((flow) => flow.goodput_bps));
  return [
    link.discipline,
    limitTexts(bottleneck, limitPackets(bottleneck))[0] ?? "–",
    percent(link.utilization),
    loss(link.loss_fraction),
    duration(link.queue_delay_s_mean),
    duration(link.queue_delay_s_p99),
    String(link.marks_packets),
    rate(goodput),
    jain === null || controlled.length < 2 ? "–" : plain(jain),
  ];
}
