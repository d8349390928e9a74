import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

const wasm = resolve(import.meta.dirname, process.env["TAILROOM_WASM"] ?? "wasm");

// The built page in Chromium and Firefox, served by a static host and by `tailroom explore`.
export default defineConfig({
  resolve: { alias: { "#wasm": wasm } },
  test: {
    include: ["tests/browser/**/*.browser.ts", "tests/firefox/**/*.firefox.ts"],
    // Before version 22 node has web sockets, by which Firefox is driven, only if asked.
    execArgv: ["--experimental-websocket"],
    // One browser at a time: each page uses every core.
    fileParallelism: false,
    // The page begins with a scenario of a million packets, on machines that do other work too.
    testTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
  },
});
