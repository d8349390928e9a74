/** The scenarios that tailroom ships, as they are. */

import { parseToml } from "./text";

export interface Preset {
  /** Name as `tailroom run` takes it: "barman-2004/figure-3". */
  name: string;
  /** The first part of a name with a folder; else empty. */
  folder: string;
  title: string;
  text: string;
}

const FILES = import.meta.glob<string>("../../../python/tailroom/scenarios/**/*.toml", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** Presets that stand first, in this order; the others follow by name. */
const FIRST = [
  "home-router",
  "first",
  "dsl",
  "fibre",
  "cable",
  "lte",
  "satellite",
  "low-orbit",
  "wifi",
  "cellular",
  "docsis",
  "data-center",
  "peering",
  "subscribers",
];

function rank(preset: Preset): number {
  const place = FIRST.indexOf(preset.name);
  return place < 0 ? FIRST.length : place;
}

function presetOf(path: string, text: string): Preset {
  const name = path.replace(/^.*\/scenarios\//, "").replace(/\.toml$/, "");
  const title = parseToml(text)?.["title"];
  const folder = name.includes("/") ? (name.split("/")[0] ?? "") : "";
  return { name, folder, text, title: typeof title === "string" ? title : name };
}

/** Whether the scenario names files, which the page cannot read. */
function namesFiles(text: string): boolean {
  return /\b(file|trace)\s*=\s*["']/.test(text);
}

export const PRESETS: Preset[] = Object.entries(FILES)
  .filter(([, text]) => !namesFiles(text))
  .map(([path, text]) => presetOf(path, text))
  .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, "en"));
