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
    const { Files, resolve, model_input } = await engine();
    const none = new Files("{}");
    for (const { name, text } of PRESETS) {
      const input = JSON.parse(model_input(text, "{}", undefined, none)) as ModelInput;
      const link = busiestLink(input);
      expect(link, name).not.toBeNull();
      if (link === null) continue;
      const another = studyText(text, link, 123_456);
      const changed = JSON.parse(resolve(another, "{}", undefined, none)) as { scenario: string };
      expect(changed.scenario, name).toContain("123456 packets");
    }
  },
  SLOW_MS,
);

const TRACED = `duration = "3 s"
[links.l]
trace = "link.trace"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "20 packets" }
[flows.f]
count = 1
path = ["l"]
congestion = "reno"
rtt = "20 ms"
`;

test.skipIf(!existsSync(WASM))(
  "the engine reads the files that it was given, and says how to give others",
  async () => {
    const { Files, resolve } = await engine();
    const reported = (text: string, files: string): string => {
      try {
        return resolve(text, "{}", undefined, new Files(files));
      } catch (fault) {
        return String(fault);
      }
    };
    const given = JSON.stringify({ "link.trace": "1\n2\n3\n" });
    expect(JSON.parse(reported(TRACED, given))).toMatchObject({ hash: null });
    expect(reported(TRACED, given.replace("3", "x"))).toContain("link.trace");
    expect(reported(TRACED, "{}")).toContain("`tailroom explore FILE` gives it the files");
    const own = TRACED.replace('trace = "link.trace"', 'rate = "1 Mbit/s"');
    expect(reported(own, "{}")).toMatch(/"hash":"[0-9a-f]{64}"/);
    const python = reported(own.replace('"reno"', '"module:Control"'), "{}");
    expect(python).toContain("the page does not run controls in Python");
    expect(python).toContain("tailroom run");
  },
);
