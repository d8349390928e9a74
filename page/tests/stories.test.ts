import { expect, test } from "vitest";
import type { ModelInput } from "../src/engine/engine";
import { embeddedOf, embedProblem } from "../src/keep/embed";
import { guessAt, rangesOf } from "../src/stories/guess";
import { meaningOf, partsOf, referencesOf } from "../src/stories/prose";
import { stepText, STORIES, storyAddress, storyOf, valueText } from "../src/stories/story";
import { wasm } from "./engine_here";

test("every step of six stories is a scenario that the engine accepts, with its links", () => {
  expect(STORIES.length).toBe(6);
  for (const story of STORIES) {
    expect(story.steps.length, story.name).toBeGreaterThanOrEqual(3);
    for (const step of story.steps) {
      const text = stepText(story, step);
      const none = new wasm.Files("{}");
      const input = JSON.parse(wasm.model_input(text, "{}", undefined, none)) as ModelInput;
      const links = story.pictures.flatMap((picture) => picture.split(":")[1] ?? []);
      expect(input.links.map(({ name }) => name)).toEqual(expect.arrayContaining(links));
      expect(input.crossed).toContain(story.link);
    }
  }
});

test("the glossary explains each term, and no text gives a number away before the guess", () => {
  for (const { name, steps } of STORIES) {
    steps.forEach(({ text, reveal, of }, place) => {
      for (const part of [...partsOf(text), ...partsOf(reveal)]) {
        if (typeof part !== "string" && "term" in part) expect(meaningOf(part.term)).not.toBe("");
      }
      for (const { step } of referencesOf(text)) {
        expect(step ?? Infinity, `${name}, step ${place + 1}`).toBeLessThanOrEqual(place);
      }
      expect(referencesOf(reveal)).toContainEqual({ step: null, metric: of });
    });
  }
  expect(() => meaningOf("bufferbloot")).toThrow("bufferbloot");
  // A meaning is text, without the marks of Markdown.
  expect(meaningOf("pool")).toMatch(/its policy says .* See shared memory\.$/);
});

test("a text has terms, and numbers of this run and of others", () => {
  expect(partsOf("A [queue], [two|buffer]: {a.b} and {2:c.d}.")).toEqual([
    "A ",
    { shown: "queue", term: "queue" },
    ", ",
    { shown: "two", term: "buffer" },
    ": ",
    { step: null, metric: "a.b" },
    " and ",
    { step: 2, metric: "c.d" },
    ".",
  ]);
});

test("an address names a story and a step, within its steps", () => {
  const [story] = STORIES;
  if (!story) throw new Error("no story");
  expect(storyOf(storyAddress(story))).toEqual({ story, step: 1 });
  expect(storyOf(storyAddress(story, 3))).toEqual({ story, step: 3 });
  expect(storyOf(`#story=${story.name}/99`)?.step).toBe(story.steps.length);
  expect(storyOf(`#story=${story.name}/x`)?.step).toBe(1);
  expect(storyOf("#story=nothing")).toBeNull();
  expect(storyOf("#1.abc")).toBeNull();
});

test("a guess is a range, or a place of a slider", () => {
  expect(rangesOf("link.loss_fraction", [0.01, 0.1])).toEqual([
    "less than 1\u202f%",
    "1\u202f% to 10\u202f%",
    "more than 10\u202f%",
  ]);
  const step = { text: "", ask: "", of: "", reveal: "", from: 0.01, to: 1 };
  expect([0, 0.5, 1].map((place) => guessAt(place, { ...step, log: true }))).toEqual([
    0.01, 0.1, 1,
  ]);
  expect([0, 0.5, 1].map((place) => guessAt(place, step))).toEqual([0.01, 0.505, 1]);
});

test("the unit of a value follows from its name", () => {
  const values = ["a.queue_delay_s_p99", "a.goodput_bps", "a.loss_fraction", "a.utilization"];
  expect(values.map((metric) => valueText(metric, 0.25).replace("\u202f", " "))).toEqual([
    "250 ms",
    "0.25 bit/s",
    "25 %",
    "25.0 %",
  ]);
  expect(valueText("a.utilization", Number.NaN)).toBe("–");
});

test("an embedded page has parts and a state", () => {
  expect(embeddedOf("#1.abc")).toBeNull();
  expect(embeddedOf("#embed=queue,verdict")).toEqual({ parts: ["queue", "verdict"], fragment: "" });
  const embedded = embeddedOf("#embed=queue,pie&1.abc");
  expect(embedded).toEqual({ parts: ["queue", "pie"], fragment: "#1.abc" });
  expect(embedded && embedProblem(embedded)).toMatch(/^The page has no part pie; .*verdict/);
});
