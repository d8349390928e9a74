import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ModelInput } from "../src/engine/engine";
import { busiestLink } from "../src/rules/bottleneck";
import { PRESETS } from "../src/scenario/presets";
import { studyText } from "../src/study/study";

// The real engine, if `make page` or `make wasm` has built it.
const WASM = new URL("../wasm/tailroom_web_bg.wasm", import.meta.url);

/** A loaded machine takes its time for all scenarios. */
const SLOW_MS = 300_000;

async function engine(): Promise<typeof import("#wasm/tailroom_web.js")> {
  // The name is not a constant, so that the test can be skipped where the file is missing.
  const name = new URL("../wasm/tailroom_web.js", import.meta.url).href;
  const module = (await import(/* @vite-ignore */ name)) as typeof import("#wasm/tailroom_web.js");
  await module.default({ module_or_path: readFileSync(WASM) });
  return module;
}

test("the presets are shipped scenarios, the first of them for beginners", () => {
  expect(PRESETS[0]?.name).toBe("first");
  expect(PRESETS.map((preset) => preset.name)).toContain("home-router");
  for (const preset of PRESETS) expect(preset.title).not.toBe("");
});

test.skipIf(!existsSync(WASM))(
  "the engine reads every preset, also with another limit",
  async () => {
    const { resolve, model_input } = await engine();
    for (const { name, text } of PRESETS) {
      const input = JSON.parse(model_input(text, "{}")) as ModelInput;
      const link = busiestLink(input);
      expect(link, name).not.toBeNull();
      if (link === null) continue;
      const changed = JSON.parse(resolve(studyText(text, link, 123_456), "{}")) as {
        scenario: string;
      };
      expect(changed.scenario, name).toContain("123456 packets");
    }
  },
  SLOW_MS,
);
