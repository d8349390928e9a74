import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Series } from "../src/engine/engine";
import { decodeState, encodeState } from "../src/keep/address";
import { commands, sizeOfLink } from "../src/keep/commands";
import { csvText, flowSeriesCsv, tradeOffCsv } from "../src/keep/csv";
import { documentText, jsonForScript } from "../src/keep/document";
import { isOwnMachine } from "../src/keep/own_machine";
import type { Picture } from "../src/pictures/picture";
import { linearTicks, logTicks } from "../src/pictures/scales";
import { wordLines } from "../src/pictures/source";
import { escapeXml, svgText } from "../src/pictures/svg";
import { NO_TARGETS, type State } from "../src/state";

const EVIL = '</script><img src=x onerror="alert(1)">';

const STATE: State = {
  text: 'title = "ü → 🙂"\n'.repeat(50),
  link: "bottleneck",
  who: "voice",
  targets: {
    utilization: 0.98,
    delayS: null,
    loss: 1e-3,
    groups: { "voice.queue_delay_s_p99": 0.01 },
  },
  kept: [{ name: "A", text: "x = 1", link: null }],
};

const PICTURE: Picture = {
  name: "queue",
  title: EVIL,
  x: { label: "buffer (packets)", log: true },
  y: { label: EVIL, log: false, percent: true },
  xs: [1, 10, 100],
  lines: [
    { label: EVIL, y: [0, null, 1], low: [0, null, 0.9], high: [0.1, null, 1], style: 1 },
    { label: "b", y: [0.5, 0.4, 0.2], style: 2, markers: true },
  ],
  marks: [{ axis: "x", at: 20, label: EVIL, kind: "rule" }],
  shades: [{ axis: "y", from: -1e300, to: 0.3, kind: "misses" }],
};

test("an address holds the whole state", async () => {
  const code = await encodeState(STATE);
  expect(code).toMatch(/^1\.[\w-]+$/);
  expect(await decodeState(`#${code}`)).toEqual(STATE);
});

test("an address that is no state is left alone", async () => {
  for (const fragment of ["", "#", "#see", "#1.", "#1.!!!", "#1.AAAA", "#2.abc"]) {
    expect(await decodeState(fragment)).toBeNull();
  }
});

function addressOf(value: unknown): string {
  return `#1.${deflateRawSync(Buffer.from(JSON.stringify(value))).toString("base64url")}`;
}

test("of an address only what is a state is taken", async () => {
  const odd = { text: "a", link: 3, targets: { loss: "no", delayS: -1 }, kept: [1, {}], run: "x" };
  expect(await decodeState(addressOf(odd))).toEqual({
    text: "a",
    link: null,
    who: null,
    targets: NO_TARGETS,
    kept: [],
  });
  expect(await decodeState(addressOf({ link: "a" }))).toBeNull();
});

test("an address of a longer text than a browser shows at once is neither read nor written", async () => {
  for (const text of ["a".repeat(5_000_000), "a".repeat(210_000), "\n".repeat(6_000)]) {
    expect(await decodeState(addressOf({ text }))).toBeNull();
    expect(await encodeState({ ...STATE, text })).toBeNull();
    const kept = [{ name: "long", text, link: null }];
    expect((await decodeState(addressOf({ text: "a", kept })))?.kept ?? []).toEqual([]);
    expect(await encodeState({ ...STATE, kept })).toBeNull();
  }
});

test("an address cannot set targets and names that the fields refuse", async () => {
  const groups = {
    "voice.queue_delay_s_p99": 0.01,
    "a.x": 1,
    "b.all_sizes.completion_time_s_p95": -1,
  };
  const targets = { utilization: 1e308, delayS: 2, loss: 1.5, groups };
  const kept = [{ name: "W".repeat(1000), text: "a", link: null }];
  const state = await decodeState(addressOf({ text: "a", targets, kept }));
  expect(state?.targets).toEqual({
    utilization: null,
    delayS: 2,
    loss: null,
    groups: { "voice.queue_delay_s_p99": 0.01 },
  });
  expect(state?.kept[0]?.name).toBe("W".repeat(80));
});

test("CSV has decimal points, names and quotes", () => {
  expect(csvText([["a", 1.5, null, 'x,"y"']])).toBe('a,1.5,,"x,""y"""\r\n');
  const series: Series = {
    link_series: {
      time_s: [],
      link: [],
      queue_packets: [],
      utilization: [],
      drops_packets: [],
      marks_packets: [],
    },
    flow_series: { time_s: [0.5, 0.5], flow: [0, 1], cwnd_packets: [10, null], srtt_s: [0.1, 0.1] },
    names: { links: [], flows: ["a,b", "c"] },
  };
  expect(flowSeriesCsv(series)).toBe(
    'time_s,flow,cwnd_packets,srtt_s\r\n0.5,"a,b",10,0.1\r\n0.5,c,,0.1\r\n',
  );
});

test("the trade-off as CSV has a row per buffer", () => {
  const run = { utilization: 0.5, delayMeanS: 0.1, delayP99S: 0.2, loss: null, jain: null };
  const text = tradeOffCsv(new Map([[3, new Map([[0, run]])]]), "packets");
  const inBdp = tradeOffCsv(new Map([[500_000, new Map([[0, run]])]]), "bdp");
  expect(inBdp.split("\r\n").map((row) => row.split(",")[0])).toEqual(["limit_bdp", "0.5", ""]);
  expect(text.split("\r\n")[1]).toBe("3,1,0.5,,0.1,,0.2,,,,,");
});

test("a picture as SVG holds no markup of its texts and no number that is none", () => {
  const text = svgText(PICTURE);
  expect(text).not.toContain("<img");
  expect(text).not.toMatch(/NaN|Infinity|undefined/);
  expect(text).toContain("&lt;img");
  expect(escapeXml("\u0000a\u0008")).toBe("\ufffda\ufffd");
});

test("a picture without values is a picture", () => {
  const empty = { ...PICTURE, xs: [], lines: [{ label: "a", y: [], style: 0 }] };
  expect(svgText(empty)).not.toMatch(/NaN|Infinity|undefined/);
});

test("an exported document runs nothing but its own script", () => {
  const page = {
    title: EVIL,
    name: "evil",
    parts: [{ title: EVIL, texts: [EVIL], pictures: [PICTURE], table: [[EVIL], [EVIL]] }],
    scenario: EVIL,
    hash: EVIL,
    build: EVIL,
    address: EVIL,
  };
  const text = documentText(page, 'const x = "</script>";');
  expect(text).not.toContain("<img");
  expect(text.match(/<\/script/g)).toHaveLength(2);
  const json = /<script type="application\/json" id="pictures">(.*?)<\/script>/s.exec(text)?.[1];
  expect(JSON.parse(json ?? "")).toEqual([PICTURE]);
  expect(text).toContain("Open in the page</a>");
  expect(documentText({ ...page, address: "" }, "")).not.toContain("<a ");
  expect(jsonForScript("<!--<script>")).not.toContain("<");
});

test.each([
  ["http://127.0.0.1:8217/#1.a", true],
  ["http://127.3.2.1/", true],
  ["http://localhost:8000/page/", true],
  ["http://page.localhost/", true],
  ["http://[::1]:8217/", true],
  ["https://127.0.0.1.example.org/", false],
  ["https://localhost.example.org/", false],
  ["https://mylocalhost/", false],
  ["http://192.168.1.127/", false],
])("whether %s leads to the own machine: %s", (address, isOwn) => {
  expect(isOwnMachine(address)).toBe(isOwn);
});

test("words below a picture stay within its width", () => {
  const words = `${"link ".repeat(45)}${"x".repeat(120)} end`;
  const lines = wordLines(words);
  expect(lines.join(" ")).toBe(words);
  expect(lines.map(({ length }) => length)).toEqual([99, 99, 24, 120, 3]);
});

test("a picture that leaves the page says where it comes from, and leads there", () => {
  const source = {
    title: EVIL,
    settings: "link down, seed 1",
    address: `https://host/#1.${"ab".repeat(300)}`,
  };
  const text = svgText(PICTURE, source);
  expect(text).not.toContain("<img");
  expect(text).toContain(`<a href="${source.address}">`);
  const written = [...text.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, content]) => content);
  expect(written.slice(-7, -5)).toEqual([escapeXml(EVIL), source.settings]);
  expect(written.slice(-5).join("")).toBe(source.address);
  // The lowest line of the address is inside the picture.
  const heights = [...text.matchAll(/ y="(\d+)"/g)].map(([, y]) => Number(y));
  const [, height] = /viewBox="0 0 720 (\d+)"/.exec(text) ?? [];
  expect(Math.max(...heights)).toBeLessThan(Number(height));
  const long = { ...source, address: "a".repeat(3000) };
  expect(svgText(PICTURE, long)).toContain(`href="${long.address}"`);
  expect(svgText(PICTURE, long)).not.toContain(">a");
  expect(svgText(PICTURE, { ...source, address: "" })).not.toContain("href");
});

test("commands quote what a shell would read", () => {
  const groups = { "voice.queue_delay_s_p99": 0.01 };
  const targets = { utilization: 0.98, delayS: 0.006, loss: null, groups };
  expect(commands("first", "a b", targets)).toEqual([
    "tailroom run first",
    "tailroom size first --link 'a b' --target 'utilization >= 98%' " +
      "--target 'queue_delay_s_p99 <= 6ms' --target 'voice.queue_delay_s_p99 <= 10ms'",
  ]);
  expect(commands("x'; rm -r", "l", NO_TARGETS)).toEqual(["tailroom run 'x'\\''; rm -r'"]);
});

test.each([
  [50.049e6, 0.02, "'50.05 Mbit/s' --rtt '20 ms'"],
  [999.96e6, 0.00005, "'1 Gbit/s' --rtt '50 us'"],
  [1.23456e9, 0.0123456, "'1.23 Gbit/s' --rtt '12.3 ms'"],
  [64_000, 0.0004321, "'64 kbit/s' --rtt '0.432 ms'"],
  [500, 12.3456, "'500 bit/s' --rtt '12.35 s'"],
])("a link of %d bit/s and %d s is asked for as on the command line", (rateBps, rttS, words) => {
  expect(sizeOfLink(rateBps, rttS)).toBe(
    `tailroom size --rate ${words} --target 'utilization >= 98%' ` +
      "--target 'queue_delay_s_p99 <= 30 ms'",
  );
});

test("ticks are round and inside", () => {
  expect(linearTicks(0, 1)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
  expect(linearTicks(0, 120)).toEqual([0, 20, 40, 60, 80, 100, 120]);
  expect(logTicks(1, 40)).toEqual([1, 2, 5, 10, 20]);
  expect(logTicks(0.5, 60_000)).toEqual([1, 10, 100, 1000, 10_000]);
});
