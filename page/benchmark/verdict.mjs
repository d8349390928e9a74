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
const { faultOf } = await load("src/engine/engine");
const { placeOf, queueKey } = await load("src/scenario/place");
const { linkOf, questionOf } = await load("src/scenario/reading");
const { parseToml } = await load("src/scenario/text");
const { limitText, limitTexts, rangeIn } = await load("src/rules/buffer_units");
const { limitAxis } = await load("src/study/axis");
const { largestLimit } = await load("src/see/buffer_slider");
const { answerOf, answerText, targetsOf } = await load("src/study/answer");
const { plan } = await load("src/study/plan");
const { measure, pointAt } = await load("src/study/point");
const { smallestAccepted } = await load("src/study/smallest_accepted");
const { seedOf, studyText } = await load("src/study/study");
const { NO_TARGETS } = await load("src/state");

const files = new wasm.Files("{}");
const { text } = PRESETS.find(({ name }) => name === "home-router");
const { scenario: resolved } = JSON.parse(wasm.resolve(text, "{}", undefined, files));
const scenario = parseToml(resolved);
const input = JSON.parse(wasm.model_input(text, "{}", undefined, files));
const link = linkOf({ scenario, input }, null);
const { unit } = link.buffer;
const place = placeOf(scenario, link.name);
const subject = { text, queue: queueKey(place), axis: limitAxis(unit), seed: 1n };
const largest = largestLimit(link, place, scenario);
const engine = {
  resolve(question) {
    try {
      return wasm.resolve(question.text, "{}", undefined, files);
    } catch (error) {
      throw faultOf(error);
    }
  },
};
const questionAt = (limit) => questionOf(studyText(subject, limit));
const range = rangeIn(unit, await smallestAccepted(engine, questionAt, largest), largest);

function measured(task) {
  const seed = seedOf(subject, task);
  const run = new wasm.Run(studyText(subject, task.limit), "{}", seed, files);
  while (run.advance(1000) < 1);
  return measure(JSON.parse(run.finish()).summary, link.name);
}

function verdict(targets) {
  const points = new Map();
  for (let runs = 0; ;) {
    const { tasks, search } = plan(points, range, targets);
    if (search && Object.keys(search.wanted).length === 0) {
      const answer = answerOf(points, targets, search);
      const amounts = (limit) => limitTexts(link, limit).join(", ");
      const words = answerText(answer, targets, amounts, (limit) => limitText(unit, limit));
      return `${runs} runs: ${words}`;
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
