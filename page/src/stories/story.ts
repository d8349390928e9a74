/** The stories: what each of their steps says, asks and runs. */

import type { Summary } from "../engine/engine";
import { PRESETS } from "../scenario/presets";
import { duration, loss, percent, rate } from "../scenario/quantities";
import { inlineToml, parseToml, setKey } from "../scenario/text";

export interface Step {
  text: string;
  ask: string;
  /** The number that is guessed, as `metricOf` names it. */
  of: string;
  /** Ends of the ranges to choose from; without them, a slider goes from `from` to `to`. */
  edges?: number[];
  from?: number;
  to?: number;
  log?: boolean;
  /** Values that replace those of the story's scenario, by dotted key. */
  set?: Record<string, unknown>;
  reveal: string;
}

export interface Story {
  /** Name in the address. */
  name: string;
  title: string;
  /** The link that the explorer opens. */
  link: string;
  /** "windows", "queue:LINK" or "delay:LINK". */
  pictures: string[];
  text: string;
  steps: Step[];
}

const FILES = import.meta.glob<string>("./*.toml", {
  query: "?raw",
  import: "default",
  eager: true,
});

const ORDER = ["why-a-buffer", "sawtooth", "square-root", "bufferbloat", "own-queue", "switch"];

/** The scenario of a story: the name of a shipped one, or the text itself. */
function scenarioText(scenario: string): string {
  return PRESETS.find(({ name }) => name === scenario)?.text ?? scenario;
}

export const STORIES: Story[] = ORDER.map((name) => {
  const told = parseToml(FILES[`./${name}.toml`] ?? "") as unknown as Story & { scenario: string };
  return { ...told, name, text: scenarioText(told.scenario) };
});

/** The scenario of a step. */
export function stepText({ text }: Story, { set }: Step): string {
  return Object.entries(set ?? {}).reduce(
    (changed, [key, value]) => setKey(changed, key.split("."), inlineToml(value)),
    text,
  );
}

/** A number of a run, by the name of a link or a group and of the statistic: "down.utilization",
 * "web.all_sizes.completion_time_s_p95"; NaN if there is none. */
export function metricOf(summary: Summary, metric: string): number {
  const [name = "", ...keys] = metric.split(".");
  let at: unknown = summary.links[name] ?? summary.groups[name];
  for (const key of keys) at = (at as Record<string, unknown> | null | undefined)?.[key];
  return typeof at === "number" ? at : Number.NaN;
}

/** A value as the page writes it; its unit follows from the metric's name. */
export function valueText(metric: string, value: number): string {
  if (Number.isNaN(value)) return "–";
  if (/_s(_|$)/.test(metric)) return duration(value);
  if (metric.endsWith("_bps")) return rate(value);
  return metric.endsWith("loss_fraction") ? loss(value) : percent(value, 1);
}

/** An address of the page that tells a story: "#story=NAME", or "#story=NAME/STEP". */
export function storyOf(hash: string): { story: Story; step: number } | null {
  const [name, step = "1"] = hash.replace(/^#story=/, "").split("/");
  const story = hash.startsWith("#story=") && STORIES.find((one) => one.name === name);
  if (!story) return null;
  const place = Math.trunc(Number(step)) || 1;
  return { story, step: Math.min(Math.max(1, place), story.steps.length) };
}

export function storyAddress(story: Story, step = 1): string {
  return `#story=${story.name}${step > 1 ? `/${step}` : ""}`;
}
