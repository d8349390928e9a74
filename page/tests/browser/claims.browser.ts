/** Every number about a run, a rule or a study is the command line's. */

import { readFileSync } from "node:fs";
import { chromium, type Browser, type Page } from "playwright-core";
import { deflateRawSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { duration, loss, packets, percent, plain, rate } from "../../src/scenario/quantities";
import { gradeOf } from "../../src/verdict/grade";
import { TWO_RENO } from "./scenarios";
import { commandLine, serveStatic, type Served } from "./servers";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
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
  all_sizes: { completion_time_s_p95: number | null } | null;
}

interface Summary {
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

/** Opens a scenario, and waits until its run has ended. */
async function open(text: string): Promise<void> {
  const state = JSON.stringify({ text, link: null, targets: {}, kept: [] });
  page = await browser.newPage();
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
      group.queue_delay_s_mean === null ? "–" : gradeOf(group.queue_delay_s_mean),
      duration(group.queue_delay_s_mean),
      duration(group.queue_delay_s_p99),
      duration(group.all_sizes?.completion_time_s_p95 ?? null),
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
      ofGroup((group) => gradeOf(group.queue_delay_s_mean ?? Number.NaN)),
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

test("the points of a study are means over runs that the command line repeats", async () => {
  await open(TWO_RENO);
  await page.locator("#trade-off").getByText(/^Done/).waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Trade-off (CSV)" }).click();
  const [head = "", ...rows] = readFileSync(await (await download).path(), "utf8").split("\r\n");
  const names = head.split(",");
  const row = rows.map((line) => line.split(",")).find(([limit]) => limit === "20") ?? [];
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
