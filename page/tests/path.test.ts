import { levelText } from "../src/path/path_view";
import { expect, test } from "vitest";
import type { ModelInput, Watched } from "../src/engine/engine";
import { eachPresent, fatesOf, placeAbove } from "../src/packets/fates";
import { levelsAt, samplesOf } from "../src/packets/samples";
import { groupsAcross, rowsOf, type Row } from "../src/path/stages";
import { PRESETS } from "../src/scenario/presets";
import { parseToml, type Table } from "../src/scenario/text";
import { wasm } from "./engine_here";

const NONE = new wasm.Files("{}");

function readingOf(text: string): { scenario: Table; input: ModelInput } {
  const { scenario } = JSON.parse(wasm.resolve(text, "{}", undefined, NONE)) as {
    scenario: string;
  };
  const input = JSON.parse(wasm.model_input(text, "{}", undefined, NONE)) as ModelInput;
  return { scenario: parseToml(scenario) ?? {}, input };
}

function presetOf(name: string): ReturnType<typeof readingOf> {
  return readingOf(PRESETS.find((one) => one.name === name)?.text ?? "");
}

/** The links of each stage. */
function linksOf(row: Row | undefined): string[][] {
  return (row ?? []).map(({ nodes }) => nodes.flatMap(({ links }) => links));
}

function network(paths: string[][]): string {
  const links = [...new Set(paths.flat())].sort().map(
    (name) => `[links.${name}]
rate = "10 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "20 packets" }`,
  );
  const flows = paths.map(
    (path, at) => `[flows.f${at}]
path = ${JSON.stringify(path)}
congestion = "reno"
rtt = "40 ms"`,
  );
  return ['duration = "4 s"\nseries.interval = "10 ms"', ...links, ...flows].join("\n");
}

test("links stand in the order in which packets cross them", () => {
  const { scenario, input } = presetOf("parking-lot");
  expect(rowsOf({ scenario, input }).map(linksOf)).toEqual([[["west"], ["middle"], ["east"]]]);
  expect(groupsAcross(scenario, "middle")).toEqual(["through", "at_middle"]);
  const joined = readingOf(network([["a", "c"], ["b", "c"], ["c", "d"], ["d"]]));
  expect(rowsOf(joined).map(linksOf)).toEqual([[["a", "b"], ["c"], ["d"]]]);
});

test("paths that form a circle have a drawing too", () => {
  const [row] = rowsOf(readingOf(network([["a", "b"], ["b", "a"]]))); // prettier-ignore
  expect(linksOf(row).flat().sort()).toEqual(["a", "b"]);
});

test("a switch has its hosts before its ports, a fabric leaves, spines and leaves", () => {
  const [rack] = rowsOf(presetOf("incast"));
  expect(linksOf(rack).map((links) => links.length)).toEqual([40, 1]);
  const [fabric] = rowsOf(presetOf("ai-fabric"));
  // 4 leaves with 8 hosts each, and 4 spines.
  expect(fabric?.map(({ nodes }) => nodes.map(({ links }) => links.length))).toEqual([
    [8, 8, 8, 8],
    [4, 4, 4, 4],
    [4, 4, 4, 4],
    [8, 8, 8, 8],
  ]);
});

test.each(["home-router", "leaf", "lossless", "two-way", "ai-fabric"])(
  "every link with data is drawn once: %s",
  (name) => {
    const reading = presetOf(name);
    const drawn = rowsOf(reading).flatMap((row) => linksOf(row).flat());
    expect(drawn.sort()).toEqual([...reading.input.crossed].sort());
  },
);

test("queues that share memory are one node, which names it", () => {
  const text = network([["a"], ["b"], ["c"]])
    .replace("[flows.f0]", '[pools.m]\nsize = "60 kB"\npolicy = "complete_sharing"\n[flows.f0]')
    .replace("[links.a]", '[links.a]\npool = "m"')
    .replace("[links.b]", '[links.b]\npool = "m"');
  const [row] = rowsOf(readingOf(text));
  expect(row?.map(({ nodes }) => nodes)).toEqual([
    [
      { name: "pool m, sharing 60000 B", links: ["a", "b"] },
      { name: "", links: ["c"] },
    ],
  ]);
});

test("the samples of a moment are what the packet log has there", () => {
  const text = network([["a", "b"], ["b"]]);
  const run = new wasm.Packets(text, "{}", undefined, NONE, "b", 0, 4);
  while (run.advance(1000) < 1);
  run.sort();
  const watched: Watched = {
    ...(JSON.parse(run.about()) as Watched),
    present: run.present(),
    presentMarks: run.present_marks(),
    times: run.times(),
    events: run.events(),
    flows: run.flows(),
  };
  const links = samplesOf(watched);
  expect([...links.keys()]).toEqual(["a", "b"]);
  const fates = fatesOf(watched, "drop_tail");
  const events = [...watched.times];
  let compared = 0;
  for (const time of links.get("b")?.times ?? []) {
    // The order of what happens at the same time is the engine's.
    if (events.some((event) => Math.abs(event - time) < 1e-9)) continue;
    let present = 0;
    eachPresent(fates, time, () => present++);
    // The packet that is sent does not wait.
    const level = { queue: Math.max(0, present - 1), drops: placeAbove(fates.dropTimes, time) };
    expect(levelsAt(links, time).get("b")).toEqual(level);
    compared++;
  }
  expect(compared).toBeGreaterThan(350);
  expect(fates.drops.length).toBeGreaterThan(0);
});

test("a level says what is known: the packets that wait, or all at the link", () => {
  expect(levelText({ queue: 3, drops: 1 })).toBe("3 waiting, 1 dropped");
  expect(levelText({ queue: 3, drops: 1, present: 5 })).toBe("5 at the link, 1 dropped");
});
