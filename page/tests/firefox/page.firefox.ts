/** The page in Firefox: its verdict, its slider and its packets. */

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Summary } from "../../src/engine/engine";
import { PRESETS } from "../../src/scenario/presets";
import { duration, percent } from "../../src/scenario/quantities";
import { parseToml } from "../../src/scenario/text";
import { limitAxis, type Axis } from "../../src/study/axis";
import { measure, type Measured } from "../../src/study/point";
import { seedOf, studyText } from "../../src/study/study";
import { priceOf, priceText } from "../../src/verdict/instead";
import { serveStatic, type Served } from "../browser/servers";
import { wasm } from "../engine_here";
import { Firefox } from "./firefox";

const FIREFOX = process.env["FIREFOX"] ?? "/usr/bin/firefox-esr";
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The home router's buffer of 100 ms, in nanoseconds. */
const LIMIT = 100_000_000;
const SEED = 1n;
/** The default of RFC 8290. */
const TARGET_US = 5000;
/** Runs of each setting after which the page rests. */
const MOST_SEEDS = 8;
const HOME = PRESETS.find(({ name }) => name === "home-router")?.text ?? "";
/** The scenario that the page shows. */
const TEXT = `document.querySelector("#text").value`;

let firefox: Firefox;
let served: Served;

beforeAll(async () => {
  served = await serveStatic();
  firefox = await Firefox.start(FIREFOX);
  await firefox.open(served.address, 1280, 900);
});

afterAll(async () => {
  await firefox.stop();
  served.stop();
});

/** What the engine measures in this thread. */
function measured(text: string, seed: bigint): Measured {
  const run = new wasm.Run(text, "{}", seed, new wasm.Files("{}"));
  while (run.advance(1000) < 1);
  const { summary } = JSON.parse(run.finish()) as { summary: Summary };
  return measure(summary, "down");
}

function meanOf(runs: Measured[], metric: string): number {
  return runs.reduce((sum, run) => sum + (run[metric] ?? Number.NaN), 0) / runs.length;
}

/** The number under a name, of the run that has ended; null before. */
function numberText(name: string): string {
  return `(() => {
    const terms = [...document.querySelectorAll("#live > .numbers:not(.past) dt")];
    return terms.find((one) => one.textContent === ${JSON.stringify(name)})?.nextSibling.textContent;
  })()`;
}

test("the verdict on the home router has the means of the engine in node", async () => {
  const { count, values } = await firefox.until<{ count: number; values: string[] }>(`(() => {
    const text = document.querySelector("#verdict-text").textContent;
    const [, count] = /means of (\\d+) runs/.exec(text) ?? [];
    const inputs = [...document.querySelectorAll("#verdict-text .sentence input")];
    return count ? { count: Number(count), values: inputs.map(({ value }) => value) } : null;
  })()`);
  const limited = studyText(
    { text: HOME, queue: ["links", "down", "queue"], axis: limitAxis("ns") },
    LIMIT,
  );
  const runs = Array.from({ length: count }, (_, seed) =>
    measured(limited, seedOf({ seed: SEED }, { limit: LIMIT, seed })),
  );
  expect(values).toEqual([
    duration(LIMIT / 1e9),
    percent(meanOf(runs, "utilization"), 1),
    duration(meanOf(runs, "voice.queue_delay_s_p99")),
  ]);
});

test("another discipline is named with the differences of the engine in node, and can be taken", async () => {
  const said = await firefox.until<string>(`(() => {
    const text = document.querySelector("#verdict-text .instead p").textContent;
    return /\\(${MOST_SEEDS} runs of each/.test(text) ? text : null;
  })()`);
  const queue = { text: HOME, queue: ["links", "down", "queue"] };
  const axis: Axis = { kind: "fq_codel", key: "target", unit: "us" };
  const runsOf = (text: string): Map<number, Measured> =>
    new Map(
      Array.from({ length: MOST_SEEDS }, (_, seed) => [
        seed,
        measured(text, seedOf({ seed: SEED }, { limit: LIMIT, seed })),
      ]),
    );
  const own = runsOf(studyText({ ...queue, axis: limitAxis("ns") }, LIMIT));
  const other = runsOf(studyText({ ...queue, axis }, TARGET_US));
  const price = priceOf(own, other, Object.keys(parseToml(HOME)?.["flows"] ?? {}));
  if (!price) throw new Error("no price");
  expect(price.gains.join()).toContain("voice: ");
  expect(said).toContain(priceText({ kind: "fq_codel", axis, value: TARGET_US }, price));
  await firefox.evaluate(`document.querySelector("#verdict-text .instead button").click()`);
  await firefox.until(`/kind = "fq_codel", target = "5000 us"/.test(${TEXT}) || null`);
  const undo = `[...document.querySelectorAll("#history button")][0]`;
  await firefox.until(`${undo}.disabled ? null : true`);
  await firefox.evaluate(`${undo}.click()`);
  await firefox.until(`/kind = "drop_tail"/.test(${TEXT}) || null`);
  // The page rests when the words of its studies are those of the setting before.
  await firefox.until(
    `document.querySelector("#verdict-text .instead button").hidden ? null : true`,
  );
  await firefox.until(numberText("Utilization"));
});

test("a drag of the slider sets the buffer and is answered with the engine's numbers", async () => {
  const [left, top, width, height] = await firefox.evaluate<
    [number, number, number, number]
  >(`(() => {
    const slider = document.querySelector("#buffer");
    slider.scrollIntoView({ block: "center" });
    const { left, top, width, height } = slider.getBoundingClientRect();
    return [left, top, width, height];
  })()`);
  const part = await firefox.evaluate<number>(
    `(({ value, min, max }) => (value - min) / (max - min))(document.querySelector("#buffer"))`,
  );
  const y = top + height / 2;
  await firefox.drag([left + part * width, y], [left + 0.4 * width, y]);
  await firefox.until(`/limit = "(?!100 ms)[^"]+s"/.test(${TEXT}) || null`);
  // The run that ends last is that of the last position.
  const shown = `[${TEXT}, ${numberText("Utilization")}, ${numberText("99th percentile")}]`;
  let text = "";
  await expect
    .poll(async () => {
      const [limited, ...numbers] = await firefox.evaluate<[string, string, string]>(shown);
      text = limited;
      const { utilization = null, delayP99S = null } = measured(limited, SEED);
      return (
        JSON.stringify(numbers) === JSON.stringify([percent(utilization), duration(delayP99S)])
      );
    })
    .toBe(true);
  expect(measured(text, SEED)["utilization"]).toBeLessThan(0.99);
});

test("packets are drawn, and a loss is found", async () => {
  const button = (name: string): string =>
    `[...document.querySelectorAll("#packets button")].find((one) => one.textContent === "${name}")`;
  await firefox.until(`${button("Watch packets")}.disabled ? null : true`);
  await firefox.evaluate(`${button("Watch packets")}.click()`);
  await firefox.until(`document.querySelector("#packets .strip").offsetParent && true`);
  await firefox.evaluate(`${button("Next loss")}.click()`);
  const moment = `document.querySelector("#packets .readout").textContent`;
  const text = await firefox.evaluate<string>(moment);
  const [, present] = /: (\d+) at the link .* [1-9]\d* dropped so far$/.exec(text) ?? [];
  const coloured = await firefox.evaluate<number>(`(() => {
    const canvas = document.querySelector("#packets .waiting canvas");
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    return data.filter((value, at) => at % 4 === 3 && value === 255).length;
  })()`);
  expect(coloured).toBe(Number(present));
});

test("axe finds nothing, and the console has no error", async () => {
  const found = await firefox.evaluate<string[]>(`(async () => {
    ${AXE};
    return (await axe.run()).violations.map(({ id, nodes }) => id + " " + nodes[0].html);
  })()`);
  expect(found).toEqual([]);
  expect(firefox.complaints).toEqual([]);
});

if (!existsSync(FIREFOX)) throw new Error(`no Firefox at ${FIREFOX}; name one in FIREFOX`);
