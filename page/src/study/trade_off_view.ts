/** The study on the page: its progress, its answer, its pictures and their numbers. */

import { make, table } from "../dom";
import { Chart } from "../pictures/chart";
import { isEmpty, type Mark, type Picture } from "../pictures/picture";
import type { Bottleneck } from "../rules/bottleneck";
import { bdpText, limitText } from "../rules/buffer_units";
import { duration, loss, percent, plain } from "../scenario/quantities";
import type { Targets } from "../state";
import { targetsOf, verdictOfAll, type SizeAnswer } from "./answer";
import { FINE, MOST_SEEDS, WIDTH } from "./plan";
import { GROUP, intervalOf, metricOf, type Metric, type Point, pointAt } from "./point";
import type { StudyState } from "./study";
import { PANEL_NAMES, tradeOffPictures, type Curve } from "./trade_off_pictures";

const WORDS = { meets: "meets them", misses: "does not", undecided: "undecided" };

const INTERVAL =
  "The answer is the next limit above its interval, which holds the smallest buffer whose long-run " +
  "means meet the targets in at least 95 of 100 searches: all runs near it count, and not those of one " +
  "buffer alone, whose mean is drawn. The command tailroom size below searches in the same way, and also " +
  "bounds the loss.";

export interface Shown {
  state: StudyState;
  link: Bottleneck;
  targets: Targets;
  /** The group whose packets are watched; "" for all. */
  who: string;
  answer: SizeAnswer | null;
  /** Marks of the rules. */
  rules: Mark[];
  /** Curves of settings that are kept for comparison; the study's own curve comes first. */
  others: Curve[];
}

export class TradeOffView {
  readonly #note = make("p", { class: "quiet" }, INTERVAL);
  readonly #status = make("p", { class: "quiet" });
  readonly #button: HTMLButtonElement;
  readonly #numbers = make("div", { class: "scrolls", tabindex: "0", role: "region" });
  readonly #rules = make("p", { class: "quiet" });
  readonly #charts: Chart[] = [];
  readonly #titles: HTMLElement[] = [];
  #pictures: Picture[] = [];
  #table: string[][] = [];
  #paused = false;

  constructor(host: HTMLElement, onGo: () => void, onPause: () => void) {
    this.#numbers.setAttribute("aria-label", "Numbers of the trade-off");
    this.#button = make("button", {
      type: "button",
      click: () => {
        this.#paused = !this.#paused;
        if (this.#paused) onPause();
        else onGo();
      },
    });
    const figures = PANEL_NAMES.map((name) => {
      const title = make("figcaption", {});
      const place = make("div", { class: "chart", id: `trade-off-${name}` });
      this.#titles.push(title);
      this.#charts.push(new Chart(place));
      return make("figure", {}, title, place);
    });
    const numbers = make("details", {}, make("summary", {}, "The numbers"), this.#numbers);
    const status = make("div", { class: "row" }, this.#button, this.#status);
    const pictures = make("div", { class: "pictures" }, ...figures);
    host.append(this.#note, status, this.#rules, pictures, numbers);
  }

  get charts(): Chart[] {
    return this.#charts;
  }

  /** Whether somebody stopped the study. */
  get isPaused(): boolean {
    return this.#paused;
  }

  get pictures(): Picture[] {
    return this.#pictures.filter((picture) => !isEmpty(picture));
  }

  /** The numbers: head and rows. */
  get table(): string[][] {
    return this.#table;
  }

  get status(): string {
    return this.#status.textContent;
  }

  show(shown: Shown): void {
    const { state, link, targets, who, answer, rules, others } = shown;
    this.#paused = state.waits || (this.#paused && !state.running);
    this.#note.hidden = answer === null;
    this.#status.textContent = statusText(state, link);
    this.#button.textContent = this.#paused ? "Go on" : "Pause";
    this.#button.hidden = state.done;
    const most = Math.max(
      ...state.points.keys(),
      ...others.flatMap((one) => [...one.points.keys()]),
    );
    this.#rules.textContent = rulesText(rules.filter(({ at }) => at <= most));
    const marks = [...rules, ...limitMark(link)];
    const { unit } = link.buffer;
    if (answer?.limit) {
      const label = `${limitText(unit, answer.limit)}: ${WORDS[answer.verdict]}`;
      marks.push({ axis: "x", at: answer.limit, label, key: label, kind: "answer" });
    }
    const own: Curve = { name: others.length > 0 ? "now" : "", points: state.points };
    this.#pictures = tradeOffPictures([own, ...others], who, targets, marks, unit);
    this.#pictures.forEach((picture, place) => {
      const title = this.#titles[place];
      if (title) title.textContent = picture.title;
      if (title?.parentElement) title.parentElement.hidden = isEmpty(picture) && state.runs > 0;
      this.#charts[place]?.show(picture);
    });
    this.#table = numbersTable(state, link, targets, who);
    const [head = [], ...rows] = this.#table;
    const caption = "Mean and half of the 95 % interval, by buffer";
    this.#numbers.replaceChildren(table(caption, head, rows));
  }
}

/** What the numbers above the pictures stand for. */
function rulesText(rules: Mark[]): string {
  const names = [...rules].sort((a, b) => a.at - b.at).map(({ label }) => label);
  if (names.length === 0) return "";
  return `Rules of the literature, as dashed lines: ${names.join("; ")}. Grey: an assumption fails.`;
}

function limitMark(link: Bottleneck): Mark[] {
  const at = link.buffer.steps;
  return Number.isFinite(at) ? [{ axis: "x", at, label: "now", key: "now", kind: "limit" }] : [];
}

function statusText(state: StudyState, { buffer, packet_bytes }: Bottleneck): string {
  const runs = `${state.runs} ${state.runs === 1 ? "run" : "runs"} of ${state.points.size} buffers`;
  const bands =
    `Bands are 95 % intervals. A buffer gets up to ${MOST_SEEDS} seeds, fewer if its intervals are ` +
    `within ${plain(100 * WIDTH.utilization)} points of utilization and ` +
    `${plain(100 * WIDTH.delay)} % of the 99th percentile of the delay.`;
  const smallest =
    (state.smallest ?? 1) > (buffer.unit === "packets" ? 1 : packet_bytes)
      ? ` The queue accepts no limit below ${limitText(buffer.unit, state.smallest ?? 1)}, so none was tried.`
      : "";
  const failed = state.failed > 0 ? ` ${state.failed} runs failed: ${state.fault}` : "";
  if (state.waits) return `A run takes long here. Go on starts at least ${FINE} runs.`;
  const stage =
    state.done && state.failed > 0
      ? "Incomplete"
      : state.done
        ? "Done"
        : state.running
          ? "Running"
          : "Waiting";
  return `${stage}: these curves rest on ${runs}. ${bands}${smallest}${failed}`;
}

/** Head and rows of the table of numbers. */
function numbersTable(
  { points, search }: StudyState,
  link: Bottleneck,
  targets: Targets,
  who: string,
): string[][] {
  const asked = targetsOf(targets);
  const rows = [...points.keys()]
    .sort((a, b) => a - b)
    .map((limit) => {
      const point = pointAt(points, limit);
      return [
        limitText(link.buffer.unit, limit),
        bdpText(link, limit),
        String(point.size),
        cell(point, "utilization", (value) => percent(value)),
        cell(point, metricOf(who, GROUP.delayMean), duration),
        cell(point, metricOf(who, GROUP.delayP99), duration),
        cell(point, metricOf(who, GROUP.loss), loss),
        cell(point, "jain", (value) => plain(value)),
        asked.length > 0 ? WORDS[verdictOfAll(limit, point, asked, search?.crossings)] : "–",
      ];
    });
  const of = who && ` (${who})`;
  const head = [
    "buffer",
    "BDP",
    "runs",
    "utilization",
    `delay, mean${of}`,
    `delay, 99 %${of}`,
    `loss${of}`,
    "Jain",
    "targets",
  ];
  return [head, ...rows];
}

function cell(point: Point, metric: Metric | null, shown: (value: number) => string): string {
  const interval = intervalOf(point, metric);
  if (!interval) return "–";
  const { mean, halfWidth } = interval;
  return Number.isFinite(halfWidth) ? `${shown(mean)} ± ${shown(halfWidth)}` : shown(mean);
}
