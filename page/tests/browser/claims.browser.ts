/** Every number about a run, a rule or a study is the command line's. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { Picture } from "../../src/pictures/picture";
import { duration, loss, packets, percent, plain, rate } from "../../src/scenario/quantities";
import { COARSE, spread } from "../../src/study/plan";
import { gradeOf } from "../../src/verdict/grade";
import { TWO_PORTS, TWO_RENO } from "./scenarios";
import { commandLine, linesElsewhere, serveStatic, summaries, type Served } from "./servers";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const SCENARIOS = resolve(import.meta.dirname, "../../../scenarios");
const TWO_LINKS = `duration = "10 s"
measure_from = "2 s"
[links.first]
rate = "20 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "30 packets" }
[links.second]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "step_mark", limit = "60 packets", threshold = "10 packets" }
[flows.reno]
count = 2
path = ["first", "second"]
congestion = "reno"
ecn = "classic"
rtt = "40 ms"
[flows.cross]
path = ["first"]
congestion = "cubic"
rtt = "30 ms"
[flows.web]
path = ["second"]
congestion = "reno"
rtt = "40 ms"
source = { kind = "finite_flows", load = 0.1, size = "20 kB" }
`;

interface Link {
  discipline: string;
  utilization: number;
  loss_fraction: number;
  queue_delay_s_mean: number;
  queue_delay_s_p99: number;
  queue_packets_mean: number;
  drops_packets: number;
  marks_packets: number;
}

interface Group {
  flows: number;
  completed_flows: number;
  congestion: string | null;
  goodput_bps: number;
  share: number;
  loss_fraction: number | null;
  rtt_s_mean: number | null;
  queue_delay_s_mean: number | null;
  queue_delay_s_p99: number | null;
  jain_index: number | null;
  all_sizes: {
    completion_time_s_p95: number | null;
    completion_time_s_p95_is_lower_bound: boolean;
  } | null;
}

interface Summary {
  seed: number;
  scenario_hash: string;
  links: Record<string, Link>;
  groups: Record<string, Group>;
}

let browser: Browser;
let served: Served;
let page: Page;

beforeAll(async () => {
  served = await serveStatic();
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
});

afterEach(async () => {
  await page.context().close();
});

afterAll(async () => {
  await browser.close();
  served.stop();
});

/** Opens a scenario, and waits until its run has ended.
 *
 * @param prepare - Called before the page is loaded.
 */
async function open(text: string, prepare?: () => Promise<void>): Promise<void> {
  const state = JSON.stringify({ text, link: null, targets: {}, kept: [] });
  page = await browser.newPage();
  await prepare?.();
  await page.goto(
    `${served.address}#1.${deflateRawSync(Buffer.from(state)).toString("base64url")}`,
  );
  await ended();
}

async function ended(): Promise<void> {
  await page.locator("#live > .numbers:not(.past)").waitFor({ state: "attached" });
  await page.locator("#live > p.quiet").filter({ hasText: "simulated in" }).waitFor();
}

function run(text: string, ...options: string[]): Summary {
  return commandLine(["run", "-", "--json", ...options], text) as Summary;
}

/** Flows that have not completed may make the time longer. */
function completionOf({ all_sizes: sizes }: Group): string {
  const mark = sizes?.completion_time_s_p95_is_lower_bound ? "≥ " : "";
  return `${mark}${duration(sizes?.completion_time_s_p95 ?? null)}`;
}

/** The cells of a table's body, row by row. */
function cells(selector: string): Promise<string[][]> {
  return page
    .locator(`${selector} tbody tr`)
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
}

test("the numbers of links and groups, in tables and in the drawing of the path", async () => {
  await open(TWO_LINKS);
  const { links, groups } = run(TWO_LINKS);
  expect(await cells("#links")).toEqual(
    Object.entries(links).map(([name, link]) => [
      name,
      link.discipline,
      percent(link.utilization),
      loss(link.loss_fraction),
      duration(link.queue_delay_s_mean),
      duration(link.queue_delay_s_p99),
      `${plain(link.queue_packets_mean)} packets`,
      String(link.marks_packets),
    ]),
  );
  expect(await cells("#groups")).toEqual(
    Object.entries(groups).map(([name, group]) => [
      name,
      group.queue_delay_s_p99 === null ? "–" : gradeOf(group.queue_delay_s_p99),
      duration(group.queue_delay_s_mean),
      duration(group.queue_delay_s_p99),
      completionOf(group),
      loss(group.loss_fraction),
      rate(group.goodput_bps),
      percent(group.share, 1),
      duration(group.rtt_s_mean),
      String(group.flows || group.completed_flows),
      group.congestion ?? "none",
      group.jain_index === null ? "–" : plain(group.jain_index),
    ]),
  );
  const drawn = page.locator("#path .hop .words");
  expect(await drawn.evaluateAll((all) => all.map((one) => one.children[1]?.textContent))).toEqual(
    Object.values(links).map(
      (link) =>
        `${plain(link.queue_packets_mean)} waiting, ${plain(link.drops_packets, 6)} dropped`,
    ),
  );
  // A press on a link of the drawing asks about it.
  for (const [name, link] of Object.entries(links)) {
    await page.locator("#path").getByRole("button", { name }).click();
    await expect
      .poll(() => page.locator("#live > .numbers dd").allTextContents())
      .toEqual([
        percent(link.utilization),
        loss(link.loss_fraction),
        duration(link.queue_delay_s_mean),
        duration(link.queue_delay_s_p99),
        `${plain(link.queue_packets_mean)} packets`,
      ]);
  }
});

test("settings side by side", async () => {
  await open(TWO_RENO);
  await page.getByText("Keep this setting").click();
  await page.getByRole("group", { name: /^Link/ }).getByLabel("Queue").selectOption("fq_codel");
  await expect.poll(() => page.locator("#text").inputValue()).toContain("fq_codel");
  await ended();
  const texts = [await page.locator("#text").inputValue(), TWO_RENO];
  const [now, kept] = texts.map((text) => run(text));
  const row = (label: string, valueOf: (summary: Summary) => string): string[] => [
    label,
    ...[now, kept].map((summary) => (summary ? valueOf(summary) : "")),
  ];
  const ofLink = (valueOf: (link: Link) => string) => (summary: Summary) =>
    Object.values(summary.links).map(valueOf).join();
  const ofGroup = (valueOf: (group: Group) => string) => (summary: Summary) =>
    Object.values(summary.groups).map(valueOf).join();
  const expected = [
    row(
      "Queue",
      ofLink(({ discipline }) => discipline),
    ),
    row(
      "Utilization",
      ofLink((link) => percent(link.utilization)),
    ),
    row(
      "Loss",
      ofLink((link) => loss(link.loss_fraction)),
    ),
    row(
      "Queueing delay, mean",
      ofLink((link) => duration(link.queue_delay_s_mean)),
    ),
    row(
      "Queueing delay, 99 %",
      ofLink((link) => duration(link.queue_delay_s_p99)),
    ),
    row(
      "Marked packets",
      ofLink((link) => String(link.marks_packets)),
    ),
    row(
      "Goodput of all flows",
      ofGroup((group) => rate(group.goodput_bps)),
    ),
    row(
      "Jain's index",
      ofGroup((group) => plain(group.jain_index ?? Number.NaN)),
    ),
    row(
      "reno: delay, 99 %",
      ofGroup((group) => duration(group.queue_delay_s_p99)),
    ),
    row(
      "reno: grade",
      ofGroup((group) => gradeOf(group.queue_delay_s_p99 ?? Number.NaN)),
    ),
    row(
      "reno: loss",
      ofGroup((group) => loss(group.loss_fraction)),
    ),
  ];
  await expect
    .poll(async () => (await cells("#kept")).filter(([label]) => label !== "Limit"))
    .toEqual(expected);
});

test("what each rule of the literature asks for", async () => {
  await open(TWO_RENO);
  interface Model {
    title: string;
    applies: boolean;
    why_not: string;
    required_for: string;
    required_packets: number;
    assumptions: { holds: boolean; statement: string }[];
  }
  const { models } = commandLine(["model", "-", "--json"], TWO_RENO) as {
    models: Record<string, Model>;
  };
  await page.locator("#rules summary").click();
  const shown = await page.locator("#rules ol > li").allTextContents();
  const asking = Object.values(models).filter(({ title }) =>
    shown.some((text) => text.startsWith(`${title}: `)),
  );
  expect(asking.length).toBe(shown.length);
  for (const model of asking) {
    const text = shown.find((one) => one.startsWith(`${model.title}: `));
    const says = model.applies
      ? `${packets(model.required_packets)} for ${model.required_for}`
      : `does not apply: ${model.why_not}`;
    expect(text).toContain(`${model.title}: ${says} (`);
    for (const { holds, statement } of model.applies ? model.assumptions : []) {
      expect(text?.includes(`fails: ${statement}`), `${model.title}: ${statement}`).toBe(!holds);
    }
  }
});

/** The study's table as the page saves it: head and rows. */
async function tradeOffTable(): Promise<string[][]> {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Trade-off (CSV)" }).click();
  const text = readFileSync(await (await download).path(), "utf8");
  return text
    .trimEnd()
    .split("\r\n")
    .map((line) => line.split(","));
}

test("the points of a study are means over runs that the command line repeats", async () => {
  await open(TWO_RENO);
  await page.locator("#trade-off").getByText(/^Done/).waitFor();
  const [names = [], ...rows] = await tradeOffTable();
  const row = rows.find(([limit]) => limit === "20") ?? [];
  const shown = (name: string): number => Number(row[names.indexOf(name)]);
  // As `tailroom size` has them: seeds of neighbouring buffers are 1,000 apart.
  const runs = Array.from({ length: 8 }, (_, seed) => {
    const { links } = run(TWO_RENO, "--seed", String(1 + 20 * 1000 + seed));
    return links["bottleneck"];
  });
  for (const metric of ["utilization", "queue_delay_s_mean", "loss_fraction"] as const) {
    const means = runs.map((_, last) => {
      const values = runs.slice(0, last + 1).map((one) => one?.[metric] ?? Number.NaN);
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    });
    // The scenario's own buffer has at least three runs.
    const nearest = means.slice(2).map((mean) => Math.abs(mean / shown(metric) - 1));
    expect(Math.min(...nearest), metric).toBeLessThan(1e-9);
  }
});

/** The picture of the frontier in the page's document, as data. */
async function frontier(): Promise<Picture | undefined> {
  const download = page.waitForEvent("download");
  await page
    .getByRole("button", { name: "These numbers and pictures (one HTML file, without the slider)" })
    .click();
  const text = readFileSync(await (await download).path(), "utf8");
  const [, json = ""] =
    /<script type="application\/json" id="pictures">(.*?)<\/script>/s.exec(text) ?? [];
  return (JSON.parse(json) as Picture[]).find(({ name }) => name === "frontier");
}

type Spot = [delayMs: number, cost: number];

/** The points of a curve, from left to right. */
function spotsOf(picture: Picture | undefined, label: string): Spot[] {
  const line = picture?.lines.find((one) => one.label === label);
  return (line?.y ?? []).flatMap((y, place): Spot[] =>
    y === null ? [] : [[picture?.xs[place] ?? Number.NaN, y]],
  );
}

/** A setting of the frontier: its scenario, the value that its seeds follow from, and how many it has. */
type Setting = [text: string, value: number, runs: number];

/** A curve, by the name of its setting in the table and the scenario of each value that it may have. */
interface Expected {
  name: string;
  label: string;
  link: string;
  values: Record<string, [value: number, text: string]>;
}

/** What the table of the frontier's points says, once no more runs follow. */
async function frontierRows(): Promise<string[][]> {
  await page.locator("#trade-off").getByText(/^Done/).waitFor();
  const details = page.locator("#frontier details");
  if ((await details.getAttribute("open")) === null) await details.locator("summary").click();
  let before = "";
  await vi.waitFor(
    async () => {
      const now = JSON.stringify(await cells("#frontier"));
      const isSettled = now === before && now !== "[]";
      before = now;
      expect(isSettled).toBe(true);
    },
    { timeout: 100_000, interval: 4_000 },
  );
  return cells("#frontier");
}

/** Where the means of the command line's runs of each setting stand, from left to right. */
function expectedSpots(settings: Setting[], link: string): Spot[] {
  const runs = settings.flatMap(([text, value, count]) =>
    Array.from({ length: count }, (_, seed): [string, number] => [text, 1 + 1000 * value + seed]),
  );
  const links = (summaries(runs) as Summary[]).map((summary) => summary.links[link]);
  const spots = settings.map(([, , count]): Spot => {
    const own = links.splice(0, count);
    const mean = (of: (link: Link) => number): number =>
      own.reduce((sum, one) => sum + (one ? of(one) : Number.NaN), 0) / count;
    return [
      1000 * mean((one) => one.queue_delay_s_p99),
      Math.max(1e-4, 1 - mean((one) => one.utilization)),
    ];
  });
  return spots.sort(([a], [b]) => a - b);
}

function expectSpots(found: Spot[], expected: Spot[]): void {
  expect(found.length).toBe(expected.length);
  const numbers = expected.flat();
  found.flat().forEach((value, place) => {
    expect(Math.abs(value / (numbers[place] ?? Number.NaN) - 1)).toBeLessThan(1e-9);
  });
}

/** Compares a curve of the picture with the command line's runs of the points in the table. */
async function expectCurve(
  rows: string[][],
  { name, label, link, values }: Expected,
): Promise<void> {
  const settings = rows
    .filter(([setting]) => setting?.startsWith(`${name} `))
    .map(([setting = "", , , runs]): Setting => {
      const [value, text] = values[setting.slice(name.length + 1)] ?? [Number.NaN, ""];
      expect(text, setting).not.toBe("");
      return [text, value, Number(runs)];
    });
  expect(settings.length, name).toBeGreaterThan(1);
  expect(settings.every(([, , runs]) => runs >= 3)).toBe(true);
  expectSpots(spotsOf(await frontier(), label), expectedSpots(settings, link));
}

function valuesOf(
  values: number[],
  shown: (value: number) => string,
  text: (value: number) => string,
): Expected["values"] {
  return Object.fromEntries(values.map((value) => [shown(value), [value, text(value)]]));
}

test("each point of the frontier is the mean of runs that the command line repeats", async () => {
  await open(TWO_RENO);
  const rows = await frontierRows();
  const withQueue = (queue: string): string => TWO_RENO.replace(/queue = .*/, `queue = ${queue}`);
  // The targets that RFC 8033 sec. 4.2, RFC 8289 sec. 4.2 and RFC 8290 sec. 5.2.1 recommend.
  for (const [kind, us] of Object.entries({ pie: 15_000, codel: 5_000, fq_codel: 5_000 })) {
    await expectCurve(rows, {
      name: `${kind}, target delay`,
      label: `${kind}: target delay`,
      link: "bottleneck",
      values: valuesOf(
        spread({ smallest: Math.round(us / 8), largest: us * 8 }, COARSE),
        (value) => duration(value / 1e6),
        (value) => withQueue(`{ kind = "${kind}", target = "${value} us" }`),
      ),
    });
  }
  const [, ...limits] = await tradeOffTable();
  expect(limits.length).toBeGreaterThan(COARSE);
  await expectCurve(rows, {
    name: "drop_tail, buffer",
    label: "drop_tail: buffer",
    link: "bottleneck",
    values: valuesOf(
      limits.map(([limit]) => Number(limit)),
      packets,
      (value) => withQueue(`{ kind = "drop_tail", limit = "${value} packets" }`),
    ),
  });
});

const MARKED = `duration = "0.2 s"
measure_from = "0.05 s"
[links.port]
rate = "1 Gbit/s"
delay = "5 us"
queue = { kind = "step_mark", limit = "200 packets", threshold = "20 packets" }
[flows.long]
count = 4
path = ["port"]
congestion = "dctcp"
host = "data_center"
ecn = "accurate"
rtt = { uniform = ["180 us", "220 us"] }
`;

/** The link that the page asks about. */
async function linkAsked(): Promise<string> {
  const title = await page.locator("#live figcaption").first().textContent();
  return /“(.*)”/.exec(title ?? "")?.[1] ?? "";
}

test("thresholds and alphas of the frontier are those that the command line would vary", async () => {
  await open(MARKED);
  await expectCurve(await frontierRows(), {
    name: "step_mark, marking threshold",
    label: "step_mark: marking threshold",
    link: "port",
    values: valuesOf(spread({ smallest: 1, largest: 199 }, COARSE), packets, (value) =>
      MARKED.replace("20 packets", `${value} packets`),
    ),
  });
  await page
    .locator("#frontier")
    .getByRole("button", { name: / threshold 1\spacket$/ })
    .click();
  await expect.poll(() => page.locator("#text").inputValue()).toContain('threshold = "1 packet"');
  await ended();
  await page.context().close();
  await open(TWO_PORTS);
  const link = await linkAsked();
  // Steps of 1/128, from which `tailroom size --vary pools.asic.policy.alpha` makes its seeds.
  const steps = Array.from({ length: 14 }, (_, power) => 2 ** power);
  await expectCurve(await frontierRows(), {
    name: "drop_tail, alpha of the pool",
    label: "drop_tail: alpha of the pool",
    link,
    values: valuesOf(
      steps,
      (step) => (step < 128 ? `1/${128 / step}` : String(step / 128)),
      (step) => TWO_PORTS.replace("alpha = 1", `alpha = ${step / 128}`),
    ),
  });
  await page
    .locator("#frontier")
    .getByRole("button", { name: / alpha of the pool 1\/4$/ })
    .click();
  await expect.poll(() => page.locator("#text").inputValue()).toContain("alpha = 0.25");
});

/** Grades by the increase of the round-trip time in ms: https://www.dslreports.com/faq/17930. */
const GRADES: [below: number, grade: string][] = [
  [5, "A+"],
  [30, "A"],
  [60, "B"],
  [200, "C"],
  [400, "D"],
  [Infinity, "F"],
];

function entryOf([name, group]: [string, Group], isGraded: boolean): string {
  const { queue_delay_s_p99: most, all_sizes: sizes } = group;
  const complete = sizes?.completion_time_s_p95 ?? null;
  const found = GRADES.find(([below]) => most !== null && 1000 * most < below)?.[1];
  const grade = isGraded && found ? found : "";
  const wait = most === null ? "…" : duration(most);
  const completes = complete === null ? "" : `; 95 % complete in ${duration(complete)}`;
  return `${name} ${wait}${completes} ${grade}`;
}

/** What the verdict says of each group while it rests on one run. */
async function rememberGroups(): Promise<void> {
  await page.addInitScript(() => {
    new MutationObserver(() => {
      const verdict = document.querySelector("#verdict-text");
      if (!verdict?.textContent.includes("one run of this buffer so far.")) return;
      const seen = [...verdict.querySelectorAll(".grades li:not(.quiet)")].map(
        (one) => one.textContent,
      );
      Object.assign(globalThis, { seen });
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
}

/** What the verdict shows of each tool: heading, lines, and what follows them. */
async function elsewhere(): Promise<string[][]> {
  return page.locator("#verdict-text").evaluate((verdict) => {
    const texts = (all: Iterable<Element>): string[] => [...all].map((one) => one.textContent);
    const command = verdict.querySelector(".command");
    const first = [command?.previousElementSibling, command?.firstElementChild];
    const remarks = command?.nextElementSibling?.children ?? [];
    const [heading = "", lines = ""] = texts(first.filter((one) => one instanceof Element));
    const others = [...verdict.querySelectorAll("dt")].map((of) => [
      of.textContent,
      ...texts(of.nextElementSibling?.children ?? []),
    ]);
    return [[heading.replace(/^To set .*? with |:$/g, ""), lines, ...texts(remarks)], ...others];
  });
}

test("lines for other tools of a shaped port, and of one that none of them has", async () => {
  const shaped = TWO_LINKS.replace(
    'limit = "30 packets" }',
    'limit = "45 kB" }\nshaper = { rate = "15 Mbit/s", burst = "3 kB", granularity = "1 ms" }',
  );
  await open(shaped);
  await page.locator("#path").getByRole("button", { name: "first" }).click();
  const ofFirst = linesElsewhere(shaped, "first");
  await expect.poll(elsewhere).toEqual(ofFirst);
  const [heading, lines, ...remarks] = ofFirst[0] ?? [];
  expect(heading).toMatch(/^tc, /);
  expect(lines?.split("\n")).toHaveLength(2);
  expect(lines).toContain("bfifo limit 45000");
  expect(remarks.join()).toContain("left out: shaper.granularity: ");
  const copy = page.locator("#verdict-text .command button");
  expect(await copy.isVisible()).toBe(true);
  await page.locator("#path").getByRole("button", { name: "second" }).click();
  await expect.poll(elsewhere).toEqual(linesElsewhere(shaped, "second"));
  expect(await page.locator("#verdict-text .command").textContent()).toContain("no exact");
  expect(await copy.isVisible()).toBe(false);
});

test.each(["home-router", "first", "incast"])(
  "who waits, grades, lines for other tools and the address of %s",
  async (name) => {
    const text = readFileSync(resolve(SCENARIOS, `${name}.toml`), "utf8");
    const summary = commandLine(["run", name, "--json"], "") as Summary;
    await open(text, rememberGroups);
    expect(await page.locator("#preset-choice").inputValue()).toBe(name);
    expect(await page.locator("#live > p.quiet").textContent()).toContain(`seed ${summary.seed};`);
    expect(await page.locator("#share .hash").textContent()).toBe(summary.scenario_hash);
    expect(await page.locator("#elsewhere code").first().textContent()).toBe(
      `tailroom run ${name}`,
    );
    await expect
      .poll(() => page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen))
      .toEqual(Object.entries(summary.groups).map((one) => entryOf(one, name !== "incast")));
    const title = await page.locator("#live figcaption").first().textContent();
    const link = /“(.*)”/.exec(title ?? "")?.[1] ?? "";
    expect(Object.keys(summary.links)).toContain(link);
    expect(await elsewhere()).toEqual(linesElsewhere(text, link));
    await expect.poll(() => page.locator("#address").inputValue()).toContain("#1.");
    const [, code = ""] = (await page.locator("#address").inputValue()).split("#1.");
    const state = JSON.parse(inflateRawSync(Buffer.from(code, "base64url")).toString()) as {
      text: string;
    };
    expect(state.text).toBe(text);
  },
);
