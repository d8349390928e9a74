import { expect, test } from "vitest";
import type { ModelInput } from "../src/engine/engine";
import { equivalents } from "../src/rules/other_tools";
import { adviceFor, DEFAULT_REQUIREMENT } from "../src/rules/rules";
import { PRESETS } from "../src/scenario/presets";
import { placeOf, queueKey } from "../src/scenario/place";
import { parseToml, removeKey, setKey, TextError } from "../src/scenario/text";
import { limitAxis } from "../src/study/axis";
import { studyText } from "../src/study/study";
import { wasm } from "./engine_here";

/** A loaded machine takes its time for all scenarios. */
const SLOW_MS = 300_000;

test("the presets are shipped scenarios, the first of them for beginners", () => {
  expect(PRESETS[0]?.name).toBe("home-router");
  expect(PRESETS.map((preset) => preset.name)).toContain("first");
  for (const preset of PRESETS) expect(preset.title).not.toBe("");
});

test(
  "the engine reads every preset, also with another limit",
  () => {
    const { Files, resolve, model_input } = wasm;
    const none = new Files("{}");
    for (const { name, text } of PRESETS) {
      const input = JSON.parse(model_input(text, "{}", undefined, none)) as ModelInput;
      const queue = queueKey(placeOf(parseToml(text) ?? {}, input.busiest));
      for (const [unit, steps, written] of [
        ["packets", 123_456, "123456 packets"],
        ["B", 12_345_678, "12.345678 MB"],
      ] as const) {
        const another = studyText({ text, queue, axis: limitAxis(unit) }, steps);
        const changed = JSON.parse(resolve(another, "{}", undefined, none)) as { scenario: string };
        expect(changed.scenario, name).toContain(written);
      }
    }
  },
  SLOW_MS,
);

const RENO = `duration = "3 s"
[links.l]
rate = "100 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "335 packets" }
[flows.f]
count = 4
path = ["l"]
congestion = "reno"
rtt = "40 ms"
`;

test("the engine says what the rules say of a link", () => {
  const { Files, model_input } = wasm;
  const input = JSON.parse(model_input(RENO, "{}", undefined, new Files("{}"))) as ModelInput;
  const [first] = input.links;
  if (!first) throw new Error("no link");
  const link = { ...first, buffer: { unit: "packets" as const, steps: 335 } };
  // 100 Mbit/s times 40 ms, in packets of 1500 B.
  expect(link.bdp_packets).toBeCloseTo(333.3, 1);
  const said = new Map(adviceFor(link, DEFAULT_REQUIREMENT).map((one) => [one.name, one]));
  expect(said.size).toBe(9);
  expect(said.get("rule_of_thumb")?.packets).toBeCloseTo(333.3, 1);
  expect(said.get("square_root_rule")?.packets).toBeCloseTo(166.7, 1);
  expect(said.get("rule_of_thumb")?.assumptions[1]).toEqual({
    statement: "one flow, or all reduce together",
    holds: false,
    found: "4 flows",
  });
  expect(said.get("bbr_buffer")).toMatchObject({
    packets: null,
    words: "link l: no BBRv1 flow crosses it",
  });
  // A window can fall by no more than what erases a utilization of so many nines.
  const never = adviceFor(link, { utilization: 0.999_999_999, loss: 1e-3 });
  expect(never.find(({ name }) => name === "stability")?.packets).toBe(Infinity);
  expect(equivalents(link)[0]).toMatchObject({
    tool: "tc",
    text: "tc qdisc replace dev DEV root pfifo limit 335",
    left_out: [],
  });
});

test("a text that is not TOML is refused with its line", () => {
  expect(() => setKey("x = 1\na = \n", ["a"], "1")).toThrow(TextError);
  expect(() => setKey("x = 1\na = \n", ["a"], "1")).toThrow(/^line 2: /);
  expect(removeKey("x = 1 # c\ny = 2\n", ["y"])).toBe("x = 1 # c\n");
});

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

test("the engine reads the files that it was given, and says how to give others", () => {
  const { Files, resolve } = wasm;
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
});
