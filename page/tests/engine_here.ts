/** The engine in the tests' own thread, as the page has it. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import init, * as wasm from "#wasm/tailroom_web.js";
import { begin } from "../src/engine/here";

const directory = process.env["TAILROOM_WASM"] ?? resolve(import.meta.dirname, "../wasm");
await init({ module_or_path: readFileSync(resolve(directory, "tailroom_web_bg.wasm")) });
begin(wasm);

export { wasm };
