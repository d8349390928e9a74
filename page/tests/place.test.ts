import { expect, test } from "vitest";
import type { ModelInput } from "../src/engine/engine";
import {
  isLimitedByPool,
  placeOf,
  queueKey,
  setKeyOfLink,
  type Place,
} from "../src/scenario/place";
import { PRESETS } from "../src/scenario/presets";
import { linkOf, type Reading } from "../src/scenario/reading";
import { parseToml, setKey } from "../src/scenario/text";
import { largestLimit } from "../src/see/buffer_slider";
import { bufferOf } from "../src/rules/buffer_units";
import { wasm } from "./engine_here";

/** A loaded machine takes its time for all links. */
const SLOW_MS = 60_000;

const NONE = new wasm.Files("{}");

/** A leaf whose ports share a megabyte, with uplinks of another rate. */
const POOLED = `duration = "1 ms"
[switches.top-of-rack]
hosts = 4
uplinks = 2
rate = "10 Gbit/s"
delay = "1 us"
uplink_rate = "40 Gbit/s"
queue = "drop_tail"
pool = { size = "1 MB", policy = "dynamic_threshold" }
[flows.f]
from = "top-of-rack"
to = "top-of-rack.outside"
congestion = "cubic"
source = { kind = "finite_flows", load = 0.4, size = "10 kB" }
`;

function inputOf(text: string): ModelInput {
  return JSON.parse(wasm.model_input(text, "{}", undefined, NONE)) as ModelInput;
}

function readingOf(text: string): Reading {
  const { scenario, hash } = JSON.parse(wasm.resolve(text, "{}", undefined, NONE)) as {
    scenario: string;
    hash: string;
  };
  const input = inputOf(text);
  return { text, scenario: parseToml(scenario) ?? {}, resolved: scenario, hash, input };
}

function presetText(name: string): string {
  return PRESETS.find((preset) => preset.name === name)?.text ?? "";
}

const NETWORKS = ["leaf", "ai-fabric", "incast", "parking-lot"].map(presetText);

test(
  "the engine reads the limit and the rate of each link where its place says",
  () => {
    const plain = POOLED.replace("[flows.f]", '[flows.f]\nhost = "plain"');
    for (const text of [POOLED, plain, ...NETWORKS]) {
      const { scenario, input } = readingOf(text);
      const disciplines = new Map(input.links.map((link) => [link.name, link.discipline]));
      const places = new Map<string, { place: Place; links: string[] }>();
      for (const { name } of input.links) {
        const place = placeOf(scenario, name);
        const key = queueKey(place).join(".") + place.rate;
        const known = places.get(key) ?? { place, links: [] };
        places.set(key, { place, links: [...known.links, name] });
      }
      for (const { place, links } of places.values()) {
        const limited = setKeyOfLink(text, queueKey(place, "limit"), '"54321 packets"');
        const changed = setKey(limited, [...place.table, place.rate], '"7 Gbit/s"');
        const { links: after } = inputOf(changed);
        for (const link of after.filter(({ name }) => links.includes(name))) {
          expect(link.amounts_packets["limit"], link.name).toBe(54_321);
          expect(link.rate_bps, link.name).toBe(7e9);
          // The queue of an interface that the text leaves out stays that of its hosts.
          expect(link.discipline, link.name).toBe(disciplines.get(link.name));
        }
      }
    }
  },
  SLOW_MS,
);

test("the ports of a switch share its pool; the interfaces and the far ends of uplinks do not", () => {
  const { scenario, input } = readingOf(POOLED);
  const pooled = input.links
    .map(({ name }) => name)
    .filter((name) => isLimitedByPool(POOLED, placeOf(scenario, name)));
  expect(pooled).toEqual([
    ...[0, 1, 2, 3].map((host) => `top-of-rack-switch-h${host}`),
    ...[0, 1].map((uplink) => `top-of-rack-switch-uplink${uplink}`),
  ]);
  const own = setKey(POOLED, ["switches", "top-of-rack", "queue"], '"codel"');
  expect(isLimitedByPool(own, placeOf(scenario, "top-of-rack-switch-h0"))).toBe(true);
  const limited = setKey(POOLED, ["switches", "top-of-rack", "queue", "limit"], '"50 packets"');
  expect(isLimitedByPool(limited, placeOf(scenario, "top-of-rack-switch-h0"))).toBe(false);
});

test("the slider ends at the memory of a pool, above thresholds, and does not move with the limit", () => {
  const largestOf = (text: string, name: string): number => {
    const { scenario, input } = readingOf(text);
    const found = input.links.find((one) => one.name === name);
    const link = found && { ...found, buffer: bufferOf(found, scenario) };
    return link ? largestLimit(link, placeOf(scenario, name), scenario) : Number.NaN;
  };
  // 1 MB, in bytes.
  expect(largestOf(POOLED, "top-of-rack-switch-h0")).toBe(1_000_000);
  const lossless = presetText("lossless");
  const kMax = inputOf(lossless).links.find(({ name }) => name === "storage-switch-h0");
  const most = largestOf(lossless, "storage-switch-h0");
  expect(most).toBeGreaterThan(kMax?.amounts_packets["k_max"] ?? Infinity);
  for (const [name, limit] of [
    ["incast", "77 kB"],
    ["leaf", "77 packets"],
  ] as const) {
    const port = "tor-switch-h0";
    const text = setKey(
      presetText(name),
      ["switches", "tor", "queue", "limit"],
      JSON.stringify(limit),
    );
    expect(largestOf(text, port), name).toBe(largestOf(presetText(name), port));
  }
});

test("the page asks about a port, not about the interface of a host", () => {
  expect(linkOf(readingOf(presetText("leaf")), null)?.name).toBe("tor-switch-h0");
  expect(linkOf(readingOf(presetText("ai-fabric")), null)?.name).toBe("ai-leaf0-h0");
  expect(linkOf(readingOf(presetText("leaf")), "tor-h3-switch")?.name).toBe("tor-h3-switch");
  expect(linkOf(readingOf(presetText("parking-lot")), null)?.name).toBe(
    inputOf(presetText("parking-lot")).busiest,
  );
});
