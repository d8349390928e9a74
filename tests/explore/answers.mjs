// Answers questions with the engine of the page: a JSON object per line in, the answer's text out.
// An object with `limits` is the question of a search, any other that of a run.
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
    const asked = [text, JSON.stringify(set), seed === null ? undefined : BigInt(seed)];
    const run = new engine.Run(...asked, new engine.Files(JSON.stringify(files)));
    while (run.advance(1) < 1);
    return run.finish();
  } catch (fault) {
    return String(fault);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  console.log("limits" in question ? engine.size_search_step(line) : answer(question));
}
