/** A measurement that is dropped on the page: the buffer that explains it, and this run next to it. */

import { announce, copyButton, labelled, make, table } from "../dom";
import type { Answer } from "../engine/engine";
import { sizeOfLink } from "../keep/commands";
import { Chart } from "../pictures/chart";
import type { Picture } from "../pictures/picture";
import { duration, QuantityError, rate, readDuration } from "../scenario/quantities";
import {
  estimateBuffer,
  MeasurementError,
  readMeasurement,
  textOf,
  type Measurement,
} from "./measurement";
import { idleRtt, myLink, rateOfLoad } from "./my_link";
import { measuredRtts, percentile, rttPicture, rttsOfRun, type Rtts } from "./rtts";

const NOTE =
  "Measured your own path? A file of flent, iperf3 -J, repeated ss -tin or Waveform's test shows the " +
  "buffer that explains it. It stays in your browser.";
const NEXT =
  "Next, on the command line: what the buffer should be, with targets of your own and the number of " +
  "flows (--flows):";
const HOLDS = new Map([
  [true, "yes"],
  [false, "no"],
  [null, "unknown"],
]);
const NO_RTTS: Rtts = { times: [], rtts: [] };

/** The command that says how large the buffer should be; nothing where the measurement lacks the link. */
function nextQuestion(measured: Measurement, idleRttS: number | null): HTMLElement[] {
  const [rateBps, rttS] = [rateOfLoad(measured), idleRtt(measured, idleRttS)];
  const isOneWay = measured.direction === "upload" || measured.direction === "download";
  if (!isOneWay || rateBps === null || rttS === null) return [];
  const command = make("code", { class: "code", tabindex: "0" }, sizeOfLink(rateBps, rttS));
  return [make("p", {}, NEXT), make("div", { class: "command" }, command, copyButton(command))];
}

export class MeasuredView {
  readonly #onScenario: (text: string) => void;
  readonly #idle = make("input", { type: "text", size: "8", autocomplete: "off" });
  readonly #found = make("div", { role: "status" });
  readonly #numbers = make("div", { class: "scrolls", tabindex: "0", role: "region" });
  readonly #figure: HTMLElement;
  readonly #chart: Chart;
  #measured: Measurement | null = null;
  #answer: Answer | null = null;

  /** @param onScenario - Takes the measured link as a scenario. */
  constructor(host: HTMLElement, onScenario: (text: string) => void) {
    this.#onScenario = onScenario;
    const file = make("input", { type: "file" });
    file.addEventListener("change", () => void this.#open(file.files?.[0]));
    this.#idle.addEventListener("change", () => this.#show());
    const place = make("div", { class: "chart" });
    this.#chart = new Chart(place);
    this.#figure = make("figure", { hidden: true }, make("figcaption", {}), place);
    this.#numbers.setAttribute("aria-label", "Measurement next to this run");
    this.#numbers.hidden = true;
    host.append(
      make("p", { class: "quiet" }, NOTE),
      make(
        "div",
        { class: "row" },
        labelled("Measurement", file),
        labelled("RTT of the idle path, if the file lacks it", this.#idle),
      ),
      this.#found,
      this.#numbers,
      this.#figure,
    );
    host.addEventListener("dragover", (event) => event.preventDefault());
    host.addEventListener("drop", (event) => {
      event.preventDefault();
      void this.#open(event.dataTransfer?.files[0]);
    });
  }

  get charts(): Chart[] {
    return [this.#chart];
  }

  get pictures(): Picture[] {
    return this.#chart.picture ? [this.#chart.picture] : [];
  }

  /** Sets the run that stands next to the measurement. */
  answer(answer: Answer): void {
    this.#answer = answer;
    this.#showRun();
  }

  async #open(file: File | undefined): Promise<void> {
    if (!file) return;
    try {
      this.#measured = readMeasurement(await textOf(file));
      this.#show();
    } catch (error) {
      if (!(error instanceof MeasurementError)) throw error;
      this.#measured = null;
      this.#complain(`${file.name} ${error.message}.`);
    }
  }

  #complain(text: string): void {
    this.#found.replaceChildren(make("p", { class: "fault" }, text));
    this.#numbers.hidden = true;
    this.#figure.hidden = true;
  }

  #show(): void {
    if (!this.#measured) return;
    let idleRttS: number | null;
    try {
      idleRttS = this.#idle.value.trim() ? readDuration(this.#idle.value) : null;
      if (idleRttS !== null && idleRttS <= 0) throw new QuantityError("is above 0, as in 20 ms");
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
      this.#complain(`The RTT of the idle path: ${error.message}.`);
      return;
    }
    const estimate = estimateBuffer(this.#measured, idleRttS);
    const mine = myLink(this.#measured, estimate, idleRttS);
    const click = (): void => this.#onScenario(mine ?? "");
    const simulate = mine && make("button", { type: "button", click }, "Simulate my link");
    const sentence = `${this.#measured.tool}: ${estimate.sentence}.`;
    const conditions = estimate.conditions.map(({ statement, holds, found }) =>
      make("li", {}, `${HOLDS.get(holds) ?? ""}: ${statement} (${found})`),
    );
    this.#found.replaceChildren(
      make("p", {}, make("strong", {}, sentence), " ", simulate),
      ...nextQuestion(this.#measured, idleRttS),
      make(
        "details",
        {},
        make("summary", {}, "Why, and under which conditions"),
        make("ul", {}, ...conditions),
      ),
    );
    announce(sentence);
    this.#showRun();
  }

  #showRun(): void {
    const [measured, answer] = [this.#measured, this.#answer];
    if (!measured) return;
    const rtts = measuredRtts(measured);
    const series = answer?.series;
    const ofRun = series ? rttsOfRun(series, answer.summary.measured_from_s) : NO_RTTS;
    const both = (percent: number): string[] => [
      duration(percentile(rtts.rtts, percent)),
      duration(percentile(ofRun.rtts, percent)),
    ];
    const mean = measured.throughput_bps.reduce((sum, one) => sum + one, 0);
    const throughput = mean / measured.throughput_bps.length;
    const flows = answer?.summary.flows.filter(({ congestion }) => congestion !== null) ?? [];
    const goodput = flows.reduce((sum, flow) => sum + flow.goodput_bps, 0);
    const rows = [
      ["Throughput (payload)", rate(throughput || null), rate(goodput || null)],
      ...[50, 95, 99].map((percent) => [`RTT, ${percent}th percentile`, ...both(percent)]),
    ];
    this.#numbers.replaceChildren(
      table("Under load", ["", "measured", "this run, permanent flows"], rows),
    );
    this.#numbers.hidden = false;
    const picture = rttPicture(rtts, ofRun);
    this.#figure.hidden = picture === null;
    if (!picture) return;
    this.#figure.firstElementChild?.replaceChildren(picture.title);
    this.#chart.show(picture);
  }
}
