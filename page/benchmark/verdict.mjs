/**
 * Processor time until the page has a verdict on the home router, with the engine in this thread:
 * `make page && node page/benchmark/verdict.mjs [utilization] [loss]`.
 */

import { resolve } from "node:path";
import { createServer } from "vite";

const root = resolve(import.meta.dirname, "..");
const server = await createServer({
  root,
  server: { middlewareMode: true },
  appType: "custom",
  logLevel: "error",
});
const load = (name) => server.ssrLoadModule(`/${name}.ts`);
const { wasm } = await load("tests/engine_here");
const { PRESETS } = await load("src/scenario/presets");
const { placeOf, queueKey } = await load("src/scenario/place");
const { parseToml } = await load("src/scenario/text");
const { largestLimit } = await load("src/see/buffer_slider");
const { answerOf, answerText, targetsOf } = await load("src/study/answer");
const { plan } = await load("src/study/plan");
const { measure, pointAt } = await load("src/study/point");
const { seedOf, studyText } = await load("src/study/study");
const { NO_TARGETS } = await load("src/state");

const files = new wasm.Files("{}");
const { text } = PRESETS.find(({ name }) => name === "home-router");
const { links, busiest } = JSON.parse(wasm.model_input(text, "{}", undefined, files));
const scenario = parseToml(text);
const place = placeOf(scenario, busiest);
const queue = queueKey(place);
const link = links.find(({ name }) => name === busiest);
const largest = largestLimit(link, place, scenario);

function measured(task) {
  const seed = seedOf({ seed: 1n }, task);
  const run = new wasm.Run(studyText({ text, queue }, task.limit), "{}", seed, files);
  while (run.advance(1000) < 1);
  return measure(JSON.parse(run.finish()).summary, busiest);
}

function verdict(targets) {
  const points = new Map();
  for (let runs = 0; ;) {
    const { tasks, search } = plan(points, { smallest: 1, largest }, targets);
    if (search && Object.keys(search.wanted).length === 0) {
      return `${runs} runs: ${answerText(answerOf(points, targets, search), targets, String)}`;
    }
    for (const task of tasks) {
      const point = pointAt(points, task.limit).set(task.seed, measured(task));
      points.set(task.limit, point);
    }
    runs += tasks.length;
  }
}

const QUESTIONS = { utilization: 0.95, loss: 0.01 };
const asked = process.argv.slice(2);
for (const [name, bound] of Object.entries(QUESTIONS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const before = process.cpuUsage();
  const words = verdict(targetsOf({ ...NO_TARGETS, [name]: bound }));
  const { user, system } = process.cpuUsage(before);
  console.log(`${((user + system) / 1e6).toFixed(1)} s, ${words}`);
}
await server.close();
