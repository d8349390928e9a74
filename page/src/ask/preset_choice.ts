/** The choice of a shipped scenario. */

import { labelled, make } from "../dom";
import type { OpenedScenario } from "../engine/page_scenario";
import type { Preset } from "../scenario/presets";

export class PresetChoice {
  readonly #select: HTMLSelectElement;
  readonly #texts: Map<string, string>;
  readonly #own = make("option", { value: "", disabled: true }, "your own scenario");
  /** The text that was shown last and is no shipped scenario. */
  #ownText: string | null = null;

  constructor(
    host: HTMLElement,
    presets: Preset[],
    file: OpenedScenario | null,
    onChoice: (text: string) => void,
  ) {
    this.#texts = new Map(presets.map((preset) => [preset.name, preset.text]));
    if (file) this.#texts.set(`file ${file.name}`, file.text);
    this.#select = make("select", { id: "preset-choice" }, this.#own, ...optionsOf(presets, file));
    this.#select.addEventListener("change", () => {
      const text = this.#texts.get(this.#select.value) ?? this.#ownText;
      if (text !== null) onChoice(text);
    });
    host.append(labelled("Scenario", this.#select));
  }

  /** Shows which shipped scenario a text is, if it is one unchanged; another text can be chosen again. */
  show(text: string): void {
    const entry = [...this.#texts].find(([, known]) => known === text);
    if (!entry) {
      this.#ownText = text;
      this.#own.disabled = false;
    }
    this.#select.value = entry?.[0] ?? "";
  }
}

function optionsOf(presets: Preset[], file: OpenedScenario | null): HTMLElement[] {
  const option = (preset: Preset): HTMLElement =>
    make("option", { value: preset.name }, preset.title);
  const folders = [...new Set(presets.map((preset) => preset.folder))];
  const parts = folders.map((folder) => {
    const inside = presets.filter((preset) => preset.folder === folder).map(option);
    return make("optgroup", { label: folder || "Links" }, ...inside);
  });
  if (!file) return parts;
  return [make("option", { value: `file ${file.name}` }, file.name), ...parts];
}
