// Answers questions with the engine of the page: a JSON object per line in, the answer's text out.
// An object with `limits` is the question of a search, any other that of a run, whose answer begins
// with the scenario and its hash.
//
//     node answers.mjs page/wasm < questions
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const directory = process.argv[2];
const engine = await import(pathToFileURL(`${directory}/tailroom_web.js`).href);
await engine.default({ module_or_path: readFileSync(`${directory}/tailroom_web_bg.wasm`) });

function answer({ text, set, seed, files = {} }) {
  try {
    const loaded = new engine.Files(JSON.stringify(files));
    const asked = [text, JSON.stringify(set), seed === null ? undefined : BigInt(seed), loaded];
    const run = new engine.Run(...asked);
    while (run.advance(1) < 1);
    const result = run.finish();
    return `${engine.resolve(...asked).slice(0, -1)},${result.slice(1)}`;
  } catch (fault) {
    return String(fault);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  console.log("limits" in question ? engine.size_search_step(line) : answer(question));
}
