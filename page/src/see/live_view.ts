/** The live pictures and numbers of the scenario that is asked. */

import { make, table } from "../dom";
import type { Answer, Delays, LinkSummary, Progress, Series, Summary } from "../engine/engine";
import { Chart } from "../pictures/chart";
import { isEmpty, type Picture } from "../pictures/picture";
import { gradeAt } from "../verdict/grade";
import type { Bottleneck } from "../rules/bottleneck";
import { duration, loss, percent, plain, rate } from "../scenario/quantities";
import { completion } from "./completion";
import { memoryPicture } from "./memory_picture";
import {
  delayPicture,
  type Limit,
  queuePicture,
  soFar,
  utilizationPicture,
  windowsPicture,
  type Span,
} from "./live_pictures";

const NAMES = ["Utilization", "Loss", "Mean queueing delay", "99th percentile", "Mean queue"];

/** Links in the table; the command line prints as many. */
const MOST_LINKS = 20;

/** The links with the largest loss, then the longest delay, in the order of the scenario. */
function mostOfInterest(links: Summary["links"]): [string, LinkSummary][] {
  const all = Object.entries(links);
  const lossOf = ({ loss_fraction: fraction }: LinkSummary): number => fraction ?? 0;
  const delayOf = ({ queue_delay_s_p99: delay }: LinkSummary): number => delay ?? 0;
  const shown = new Set(
    [...all]
      .sort(([, a], [, b]) => lossOf(b) - lossOf(a) || delayOf(b) - delayOf(a))
      .slice(0, MOST_LINKS),
  );
  return all.filter((entry) => shown.has(entry));
}

function scrolling(id: string, label: string): HTMLElement {
  return make("div", { id, class: "scrolls", tabindex: "0", role: "region", "aria-label": label });
}

export class LiveView {
  readonly #charts: Chart[] = [];
  readonly #titles: HTMLElement[] = [];
  readonly #numbers = make("dl", { class: "numbers" });
  readonly #warnings = make("details", { class: "warnings" });
  readonly #groups = scrolling("groups", "Groups of flows");
  readonly #links = scrolling("links", "Links");
  readonly #onLink: (link: string) => void;
  readonly #state = make("p", { class: "quiet" });
  #link: Bottleneck | null = null;
  #limit: Limit = { packets: Number.NaN, words: "" };
  #seed = 1n;
  #span: Span = { measuredFromS: 0, durationS: 1 };
  #series: Series | null = null;
  #delays: Delays | null = null;
  #summary: Summary | null = null;
  #table: string[][] = [];

  constructor(host: HTMLElement, onLink: (link: string) => void) {
    this.#onLink = onLink;
    const names = ["queue", "windows", "delay", "utilization", "memory"];
    const pictures = names.map((name) => {
      const title = make("figcaption", {});
      const place = make("div", { class: "chart", id: `picture-${name}` });
      this.#titles.push(title);
      this.#charts.push(new Chart(place));
      return make("figure", {}, title, place);
    });
    const grid = make("div", { class: "pictures" }, ...pictures);
    host.append(this.#state, this.#numbers, this.#warnings, grid, this.#groups, this.#links);
  }

  /** What the charts show. */
  get pictures(): Picture[] {
    return this.#charts.flatMap((chart) => chart.picture ?? []);
  }

  get charts(): Chart[] {
    return this.#charts;
  }

  /** Sets the link and the times that the pictures are about. */
  about(link: Bottleneck, limit: Limit, span: Span, seed: bigint): void {
    this.#link = link;
    this.#seed = seed;
    this.#limit = limit;
    this.#span = span;
    if (this.#summary) this.#showNumbers(this.#summary, link.name);
    if (this.#series) this.#pictures(this.#series, this.#summary);
  }

  /** Sets the limit of a buffer that is being moved, for the pictures that follow. */
  limit(limit: Limit): void {
    this.#limit = limit;
  }

  /** The groups of flows: head and rows. */
  get table(): string[][] {
    return this.#table;
  }

  /** The numbers are not those of the setting at the slider any more. */
  past(): void {
    this.#numbers.classList.add("past");
    this.#warnings.classList.add("past");
    this.#groups.classList.add("past");
    this.#links.classList.add("past");
  }

  /** Another scenario: no number of the one before is left. */
  blank(): void {
    this.#summary = null;
    this.#series = null;
    this.#numbersOf([]);
    this.#warnings.replaceChildren();
    this.#groups.replaceChildren();
    this.#links.replaceChildren();
    this.#table = [];
  }

  progress(progress: Progress): void {
    const { seconds } = progress;
    const far =
      progress.series && this.#link
        ? soFar(progress.series, progress.delays, this.#link, this.#span)
        : null;
    this.#state.textContent =
      `Simulated ${plain(seconds)} of ${plain(this.#span.durationS)} s` +
      (far ? "; the numbers are samples of the run so far" : "");
    if (far) this.#numbersOf(far);
    this.past();
    this.#summary = null;
    this.#series = progress.series;
    this.#delays = progress.delays;
    if (progress.series) this.#pictures(progress.series, null);
  }

  answer(answer: Answer): void {
    const { summary, series, delays, wallMs } = answer;
    this.#summary = summary;
    this.#series = series;
    this.#delays = delays;
    const speed = summary.packet_hops / Math.max(1, wallMs) / 1000;
    const from = this.#span.measuredFromS;
    this.#state.textContent =
      `${plain(this.#span.durationS)} s simulated in ${duration(wallMs / 1000)}, ` +
      `${plain(speed)} million packets per second, seed ${this.#seed}; the numbers are of this one run` +
      `${from > 0 ? ` from ${plain(from)} s on` : ""}, over all packets`;
    this.#numbers.classList.remove("past");
    this.#warnings.classList.remove("past");
    this.#groups.classList.remove("past");
    this.#links.classList.remove("past");
    if (this.#link) this.#showNumbers(summary, this.#link.name);
    this.#showWarnings(summary);
    this.#showGroups(summary);
    this.#showLinks(summary);
    if (series) this.#pictures(series, summary);
  }

  fault(text: string): void {
    this.#state.textContent = text;
  }

  /** Numbers of the link in words, for screen readers. */
  static words(summary: Summary, name: string): string {
    const link = summary.links[name];
    if (!link) return "";
    return (
      `Utilization ${percent(link.utilization, 1)}, mean queueing delay ` +
      `${duration(link.queue_delay_s_mean)}, loss ${loss(link.loss_fraction)}`
    );
  }

  #pictures(series: Series, summary: Summary | null): void {
    const link = this.#link;
    if (!link) return;
    const p99 = summary?.links[link.name]?.queue_delay_s_p99 ?? null;
    const shares = summary?.pools ?? {};
    const pictures: (Picture | null)[] = [
      queuePicture(series, link.name, this.#limit, this.#span),
      windowsPicture(series, this.#span),
      delayPicture(this.#delays, link.name, p99),
      utilizationPicture(series, link.name, this.#span),
      memoryPicture(series, link.name, this.#span, shares),
    ];
    pictures.forEach((picture, place) => {
      const title = this.#titles[place];
      const isHidden = picture === null || (summary !== null && isEmpty(picture));
      if (title?.parentElement) title.parentElement.hidden = isHidden;
      if (!picture) {
        this.#charts[place]?.clear();
        return;
      }
      if (title && title.textContent !== picture.title) title.textContent = picture.title;
      this.#charts[place]?.show(picture);
    });
  }

  #showNumbers(summary: Summary, name: string): void {
    const link = summary.links[name];
    if (!link) return;
    const numbers: [string, string][] = [
      ["Utilization", percent(link.utilization)],
      ["Loss", loss(link.loss_fraction)],
      ["Mean queueing delay", duration(link.queue_delay_s_mean)],
      ["99th percentile", duration(link.queue_delay_s_p99)],
      ["Mean queue", `${plain(link.queue_packets_mean)} packets`],
    ];
    this.#numbersOf(numbers);
  }

  /** Shows numbers in the fixed order of names; a dash for what is not known. */
  #numbersOf(known: [string, string][]): void {
    const numbers = NAMES.map((name) => [name, new Map(known).get(name) ?? "–"] as const);
    this.#numbers.replaceChildren(
      ...numbers.map(([label, value]) =>
        make("div", {}, make("dt", {}, label), make("dd", {}, value)),
      ),
    );
  }

  /** What a reader should know before trusting the numbers; its line stays where there is nothing. */
  #showWarnings({ warnings }: Summary): void {
    const count = warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`;
    const texts = warnings.map(({ text }) => make("p", {}, text));
    const head = make("summary", {}, `${count} about this run`);
    this.#warnings.replaceChildren(...(texts.length > 0 ? [head, ...texts] : []));
  }

  /** The queues of a network side by side; a press on a link makes the page ask about it. */
  #showLinks({ links }: Summary): void {
    const names = Object.keys(links);
    this.#links.hidden = names.length < 2;
    if (this.#links.hidden) return;
    const rows = mostOfInterest(links).map(([name, link]) => [
      make("button", { type: "button", click: () => this.#onLink(name) }, name),
      link.discipline,
      percent(link.utilization),
      loss(link.loss_fraction),
      duration(link.queue_delay_s_mean),
      duration(link.queue_delay_s_p99),
      `${plain(link.queue_packets_mean)} packets`,
      String(link.marks_packets),
    ]);
    const head = ["link", "queue", "used", "loss", "delay, mean", "delay, 99 %", "mean", "marks"];
    const all =
      rows.length === names.length
        ? "all links"
        : `the ${rows.length} of ${names.length} links with most loss and delay`;
    this.#links.replaceChildren(table(`Where packets wait: ${all}`, head, rows));
  }

  #showGroups(summary: Summary): void {
    const rows = Object.entries(summary.groups).map(([name, group]) => [
      name,
      gradeAt(this.#link, group.queue_delay_s_p99) || "–",
      duration(group.queue_delay_s_mean),
      duration(group.queue_delay_s_p99),
      completion(group),
      loss(group.loss_fraction),
      rate(group.goodput_bps),
      percent(group.share, 1),
      duration(group.rtt_s_mean),
      String(group.flows || group.completed_flows),
      group.congestion ?? "none",
      group.jain_index === null ? "–" : plain(group.jain_index),
    ]);
    const head = [
      "group",
      "grade",
      "delay, mean",
      "delay, 99 %",
      "95 % complete in",
      "loss",
      "goodput",
      "share",
      "RTT",
      "flows",
      "control",
      "Jain",
    ];
    this.#table = [head, ...rows];
    this.#groups.replaceChildren(table("Who waits: groups of flows", head, rows));
  }
}
