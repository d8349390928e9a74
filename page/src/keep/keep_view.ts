/** What can be taken along: the address, files, and commands. */

import { announce, download, make } from "../dom";
import { shortBuild, type Series } from "../engine/engine";
import type { Picture } from "../pictures/picture";
import type { Source } from "../pictures/source";
import { type Bottleneck } from "../rules/bottleneck";
import { limitTexts } from "../rules/buffer_units";
import { PRESETS } from "../scenario/presets";
import { hashText, seedOfScenario, type Reading } from "../scenario/reading";
import type { State } from "../state";
import type { Point } from "../study/point";
import { commands } from "./commands";
import { flowSeriesCsv, linkSeriesCsv, tradeOffCsv } from "./csv";
import { documentText, type PageDocument } from "./document";
import { pngFile, svgFile, textFile } from "./files";
import { isOwnMachine } from "./own_machine";

/** What the page shows now, for files. */
export interface Snapshot {
  state: State;
  reading: Reading;
  link: Bottleneck;
  series: Series | null;
  points: Map<number, Point>;
  pictures: Picture[];
  document: PageDocument;
}

/** Characters of the scenario's hash below a picture. */
const HASH_START = 12;

const ELSEWHERE =
  "The command line alone has controls in Python, stores that keep runs, and runs of more than " +
  "4 GB. Files (traces, lists of flows) are read here too, if this command opens the scenario that names " +
  "them (pip install tailroom): ";

const OWN_MACHINE =
  "Others cannot open this address: it leads to this machine. Put a copy of the page on a web server, as " +
  "tailroom explore --out writes it; what stands behind # stays the same.";

type Offer = [label: string, save: (now: Snapshot) => Promise<void> | void];

const OFFERS: Offer[] = [
  // The name that the command below has.
  ["Scenario (TOML)", ({ state }) => save("scenario.toml", state.text, "application/toml")],
  [
    "Trade-off (CSV)",
    (now) =>
      save(
        fileName(now, "trade-off.csv"),
        tradeOffCsv(now.points, now.link.buffer.unit),
        "text/csv",
      ),
  ],
  [
    "Series of the links (CSV)",
    (now) => save(fileName(now, "links.csv"), linkSeriesCsv(present(now.series)), "text/csv"),
  ],
  [
    "Series of the flows (CSV)",
    (now) => save(fileName(now, "flows.csv"), flowSeriesCsv(present(now.series)), "text/csv"),
  ],
  ["These numbers and pictures (one HTML file, without the slider)", saveDocument],
];

/** A name by which files of several scenarios and buffers are told apart. */
function fileName({ document: { name }, link }: Snapshot, end: string): string {
  const { unit, steps } = link.buffer;
  const buffer = Number.isFinite(steps) ? [`${steps}${unit === "packets" ? "" : unit}`] : [];
  return [name, link.name, ...buffer, end].join("-").replace(/[^\w.-]+/g, "-");
}

/** Where the pictures come from. */
function sourceOf({ reading, link, document: page }: Snapshot, address: string): Source {
  const settings = [
    `link ${link.name}`,
    `buffer ${limitTexts(link, link.buffer.steps)[0] ?? ""} (${link.discipline})`,
    `seed ${seedOfScenario(reading)}`,
    `tailroom ${shortBuild(page.build)}`,
    `hash ${reading.hash?.slice(0, HASH_START) ?? "none"}`,
  ];
  return { title: page.title, settings: settings.join(", "), address };
}

function present(series: Series | null): Series {
  if (!series) throw new Error("no run has ended yet");
  return series;
}

function save(name: string, text: string, type: string): void {
  download(name, textFile(text, type));
}

async function saveDocument(now: Snapshot): Promise<void> {
  const page = now.document;
  const response = await fetch("viewer.js");
  if (!response.ok) throw new Error("the page's viewer.js is missing");
  save(fileName(now, "tailroom.html"), documentText(page, await response.text()), "text/html");
}

export class KeepView {
  readonly #address = make("input", { type: "text", readonly: true, id: "address" });
  readonly #onPaper = make("p", { class: "on-paper code" });
  readonly #ownMachine = make("p", { class: "quiet", hidden: true }, OWN_MACHINE);
  readonly #hash = make("span", { class: "hash" });
  readonly #pictures = make("select", { id: "picture-choice" });
  readonly #commands = make("div", {});
  readonly #now: () => Snapshot | null;

  constructor(
    share: HTMLElement,
    exports: HTMLElement,
    elsewhere: HTMLElement,
    now: () => Snapshot | null,
  ) {
    this.#now = now;
    const copy = button("Copy", () => this.#copy());
    share.append(
      make(
        "label",
        { for: "address" },
        "This address holds the scenario, the link and the targets",
      ),
      make("div", { class: "row" }, this.#address, copy),
      this.#ownMachine,
      this.#onPaper,
      make(
        "p",
        {},
        "Scenario hash, as ",
        make("code", {}, "tailroom run --json"),
        " prints it: ",
        this.#hash,
      ),
    );
    const offers = OFFERS.map(([label, take]) => button(label, () => this.#take(label, take)));
    const picture = make(
      "div",
      { class: "row" },
      make("label", { for: "picture-choice" }, "Picture"),
      this.#pictures,
      button("PNG", () => this.#take("PNG", (now) => this.#picture(now, "png"))),
      button("SVG", () => this.#take("SVG", (now) => this.#picture(now, "svg"))),
    );
    exports.append(make("h3", {}, "Files"), make("div", { class: "row" }, ...offers), picture);
    elsewhere.append(
      make("h3", {}, "The same on the command line"),
      this.#commands,
      make(
        "p",
        { class: "quiet" },
        ELSEWHERE,
        make("code", {}, "tailroom explore scenario.toml"),
        ".",
      ),
    );
  }

  /** Shows the hash and the commands of what the page shows. */
  show(reading: Reading, link: Bottleneck, state: State): void {
    this.#hash.textContent = hashText(reading.hash);
    const preset = PRESETS.find((one) => one.text === state.text);
    const lines = commands(preset?.name ?? "scenario.toml", link.name, state.targets);
    this.#commands.replaceChildren(...lines.map((line) => make("code", { class: "code" }, line)));
    if (!preset) {
      const note = make("p", { class: "quiet" }, "Save the scenario as scenario.toml first.");
      this.#commands.append(note);
    }
  }

  showAddress(address: string): void {
    const isWhole = address.includes("#");
    this.#ownMachine.hidden = !isWhole || !isOwnMachine(address);
    this.#address.value = isWhole
      ? address
      : "too long for an address; save the scenario as a file";
    this.#onPaper.textContent = isWhole ? address : "";
  }

  /** Names the pictures that can be saved. */
  name(pictures: Picture[]): void {
    const names = pictures.map(({ name }) => name);
    const known = [...this.#pictures.options].map((option) => option.value);
    if (names.join() === known.join()) return;
    const chosen = this.#pictures.value;
    this.#pictures.replaceChildren(
      ...pictures.map(({ name, title }) => make("option", { value: name }, `${title} (${name})`)),
    );
    if (names.includes(chosen)) this.#pictures.value = chosen;
  }

  async #copy(): Promise<void> {
    this.#address.select();
    try {
      await navigator.clipboard.writeText(this.#address.value);
      announce("The address is copied");
    } catch {
      announce("The address is selected; copy it with the keyboard");
    }
  }

  async #picture(now: Snapshot, kind: "png" | "svg"): Promise<void> {
    const picture = now.pictures.find(({ name }) => name === this.#pictures.value);
    if (!picture) throw new Error("there is no picture yet");
    const source = sourceOf(now, this.#onPaper.textContent);
    const file = kind === "png" ? await pngFile(picture, source) : svgFile(picture, source);
    download(fileName(now, `${picture.name}.${kind}`), file);
  }

  async #take(label: string, take: Offer[1]): Promise<void> {
    const now = this.#now();
    if (!now) {
      announce("There is nothing to save yet");
      return;
    }
    try {
      await take(now);
      announce(`${label} saved`);
    } catch (error) {
      announce(`${label} could not be saved: ${error instanceof Error ? error.message : ""}`);
    }
  }
}

function button(label: string, click: () => Promise<void>): HTMLButtonElement {
  return make("button", { type: "button", click: () => void click() }, label);
}
