/** The page in Chromium: what a visitor does. */

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { PRESETS } from "../../src/scenario/presets";
import { duration, packets, percent } from "../../src/scenario/quantities";
import { POOL, TWO_PORTS, TWO_RENO } from "./scenarios";
import {
  BUILT,
  commandLineSummary,
  serveExplore,
  serveStatic,
  writeCopy,
  type Served,
} from "./servers";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const MEASUREMENT = resolve(import.meta.dirname, "../../../tests/measurements/simulated.flent.gz");
const SWITCH = `title = "Incast"
duration = "0.1 s"

[switches.tor]
hosts = 5
rate = "1 Gbit/s"
delay = "25 us"
queue = { kind = "drop_tail", limit = "50 packets" }

[flows.queries]
from = "tor"
to = "tor.h0"
congestion = "cubic"
source = { kind = "incast", fan_in = 4, size = "50 kB", period = "10 ms" }
`;
/** About 10^9 packets. */
const ENDLESS = TWO_RENO.replace("10 s", "12000 s").replace("10 Mbit/s", "1 Gbit/s");

let browser: Browser;
let context: BrowserContext;
let complaints: string[];

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
});

afterAll(async () => {
  await browser.close();
});

afterEach(async () => {
  await context.close();
});

/** A new visitor; what the browser's console complains about is collected. */
async function visit(address: string, width = 1280, height = 900): Promise<Page> {
  context = await browser.newContext({ viewport: { width, height }, locale: "de-DE" });
  complaints = [];
  return open(address);
}

/**
 * A new visitor; `seen` of the page becomes the verdict's numbers while they are those of one run,
 * which the studies turn into means as soon as they have two.
 */
async function visitVerdict(address: string): Promise<Page> {
  context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "de-DE" });
  complaints = [];
  await context.addInitScript(() => {
    new MutationObserver(() => {
      const verdict = document.querySelector("#verdict-text");
      if (!verdict?.textContent.includes("one run of this buffer so far.")) return;
      const seen = [...verdict.querySelectorAll("input")].map(({ value }) => value);
      Object.assign(globalThis, { seen });
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
  return open(address);
}

/** A new visitor of a story, which has nothing that runs by itself. */
async function visitStory(address: string, width = 1280): Promise<Page> {
  context = await browser.newContext({ viewport: { width, height: 900 } });
  complaints = [];
  return open(address, (page) => page.locator("#story .guess").waitFor());
}

async function expectText(page: Page, part: string): Promise<void> {
  await expect.poll(() => page.locator("#text").inputValue()).toContain(part);
}

function ids(elements: Element[]): string[] {
  return elements.map(({ id }) => id);
}

async function open(address: string, ready: (page: Page) => Promise<void> = ended): Promise<Page> {
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.goto(address);
  await ready(page);
  return page;
}

/** Waits until the live run of the present scenario has ended. */
async function ended(page: Page): Promise<void> {
  await page.locator("#live > .numbers:not(.past)").waitFor({ state: "attached" });
  const state = page.locator("#live > p.quiet").filter({ hasText: "simulated in" });
  await state.waitFor({ state: "attached" });
}

/** Writes a scenario into the editor, and waits for its run. */
async function write(page: Page, text: string): Promise<void> {
  const area = page.locator("#text");
  if (!(await area.isVisible()))
    await page.getByText("The whole scenario, as TOML").first().click();
  await area.fill(text);
}

async function number(page: Page, name: string): Promise<string> {
  const term = page.locator("#live dt").filter({ hasText: new RegExp(`^${name}$`) });
  return (await term.locator("xpath=following-sibling::dd").textContent()) ?? "";
}

function hash(page: Page): Promise<string | null> {
  return page.locator("#share .hash").textContent();
}

async function expectSame(page: Page, scenario: string): Promise<void> {
  const summary = commandLineSummary(scenario);
  await expect.poll(() => hash(page)).toBe(summary.scenario_hash);
  await ended(page);
  const utilization = percent(summary.links["bottleneck"]?.utilization ?? Number.NaN);
  await expect.poll(() => number(page, "Utilization")).toBe(utilization);
}

describe("the page on a static host", () => {
  let served: Served;

  beforeAll(async () => {
    served = await serveStatic();
  });

  afterAll(() => {
    served.stop();
  });

  test("loads without complaints and names its engine", async () => {
    const page = await visit(served.address);
    expect(await page.locator("#engine").textContent()).toContain("in this browser");
    expect(complaints).toEqual([]);
  });

  test("shows what the command line prints, and the address brings it back", async () => {
    const page = await visit(served.address);
    await write(page, TWO_RENO);
    await expectSame(page, TWO_RENO);
    await expect.poll(() => page.url()).toContain("#1.");
    const shown = await number(page, "Utilization");
    const again = await open(page.url());
    expect(await hash(again)).toBe(await hash(page));
    expect(await number(again, "Utilization")).toBe(shown);
    expect(complaints).toEqual([]);
  });

  test("flows that arrive and depart have a load in the form, and no number", async () => {
    const page = await visit(served.address);
    await write(
      page,
      `${TWO_RENO}
[flows.web]
path = ["bottleneck"]
congestion = "reno"
rtt = "40 ms"
source = { kind = "finite_flows", load = 0.1, size = "20 kB" }
`,
    );
    const web = page.getByRole("group", { name: "Flows “web”" });
    await expect.poll(() => web.getByLabel("Load, of the rate").count()).toBe(1);
    expect(await web.getByLabel("Flows", { exact: true }).count()).toBe(0);
    const reno = page.getByRole("group", { name: "Flows “reno”" });
    expect(await reno.getByLabel("Flows", { exact: true }).inputValue()).toBe("2");
  });

  test("every control changes the scenario, and the engine accepts it", async () => {
    const page = await visit(served.address);
    await write(page, TWO_RENO);
    await expectSame(page, TWO_RENO);
    const area = page.locator("#text");
    const link = page.getByRole("group", { name: "Link “bottleneck”" });
    const flows = page.getByRole("group", { name: "Flows “reno”" });
    const run = page.getByRole("group", { name: "Run" });
    const changes: [() => Promise<unknown>, string][] = [
      [() => fill(link.getByLabel("Rate"), "20 Mbit/s"), 'rate = "20 Mbit/s"'],
      [() => fill(link.getByLabel("Rate"), "30M"), 'rate = "30 Mbit/s"'],
      [() => fill(link.getByLabel("Rate"), "20 Mbit/s"), 'rate = "20 Mbit/s"'],
      [() => fill(link.getByLabel("Delay, one way"), "2,5 ms"), 'delay = "2.5 ms"'],
      [() => link.getByLabel("Queue").selectOption("codel"), 'kind = "codel"'],
      [() => fill(link.getByLabel("Limit"), "0,5 bdp"), 'limit = "0.5 bdp"'],
      [() => fill(flows.getByLabel("Flows"), "3"), "count = 3"],
      [() => flows.getByLabel("Congestion control").selectOption("cubic"), '"cubic"'],
      [() => fill(flows.getByLabel("RTT without queues"), "30 ms to 50 ms"), "uniform"],
      [() => fill(flows.getByLabel("Packets sent together"), "4"), "send_burst = 4"],
      [() => fill(flows.getByLabel("Packets sent together"), "auto"), 'send_burst = "auto"'],
      [() => flows.getByLabel("Paced").check(), "pacing = true"],
      [() => fill(run.getByLabel("Duration"), "8 s"), 'duration = "8 s"'],
      [() => fill(run.getByLabel("Statistics from"), "1 s"), 'measure_from = "1 s"'],
      [() => fill(run.getByLabel("Seed"), "7"), "seed = 7"],
    ];
    for (const [change, written] of changes) {
      const before = await hash(page);
      await change();
      await expect.poll(() => area.inputValue()).toContain(written);
      if (!written.startsWith("seed")) await expect.poll(() => hash(page)).not.toBe(before);
      expect(await page.locator(".complaint:visible").count(), written).toBe(0);
      await ended(page);
    }
    await expectSame(page, await area.inputValue());
    expect(complaints).toEqual([]);
  });

  test("a measurement shows the buffer that explains it, and the link can get it", async () => {
    const page = await visit(served.address);
    await page.locator("#measured input[type=file]").setInputFiles(MEASUREMENT);
    const found = page.locator("#measured strong");
    await expect.poll(() => found.textContent()).toContain("holds about 247.2 kB (165 packets");
    await page.getByRole("button", { name: "Simulate my link" }).click();
    // The file is of a path of 50 Mbit/s and 20 ms, behind 8 flows.
    await expectText(page, 'title = "My link, as measured"');
    const text = await page.locator("#text").inputValue();
    expect(text).toMatch(/rate = "(49|50)\d{3} kbit\/s"/);
    expect(text).toMatch(/limit = "2472\d\d B"/);
    expect(text).toMatch(/rtt = "20(\.\d)? ms"/);
    await ended(page);
    await page.getByLabel("Measurement", { exact: true }).setInputFiles(import.meta.filename);
    await page.getByText("is no measurement that tailroom knows").waitFor();
    expect(complaints).toEqual([]);
  });

  test("the legend has the dashes of the lines, and a notice a button that is seen", async () => {
    const page = await visit(served.address);
    const samples = (): Promise<string[]> =>
      page
        .locator("#picture-windows .u-series:not(:first-child) .u-marker")
        .evaluateAll((all) => all.map((one) => (one as HTMLElement).style.background));
    await expect.poll(async () => (await samples()).length).toBe(2);
    const [whole, dashed] = await samples();
    expect(whole).not.toContain("gradient");
    expect(dashed).toMatch(/repeating-linear-gradient\(.* 0px,? .*7px.* 10px\)/);
    await write(page, "title =");
    const close = page.locator("#notice button");
    await close.waitFor();
    const colours = await close.evaluate((one) => {
      const { color, backgroundColor } = getComputedStyle(one);
      return [color, backgroundColor];
    });
    expect(colours[0]).not.toBe(colours[1]);
  });

  test("the slider sets the limit, by keyboard too", async () => {
    const page = await visit(served.address);
    await write(page, TWO_RENO);
    await expectSame(page, TWO_RENO);
    const slider = page.getByRole("slider");
    await slider.focus();
    await page.keyboard.press("End");
    await expect.poll(() => page.locator("#text").inputValue()).toMatch(/limit = "1\d\d packets"/);
    await expectSame(page, await page.locator("#text").inputValue());
    await expect.poll(() => number(page, "Utilization")).toBe(percent(1));
    expect(await slider.getAttribute("aria-valuetext")).toContain("BDP");
  });

  test("a wrong scenario is a message at its line, and the page goes on", async () => {
    const page = await visit(served.address);
    const line = TWO_RENO.split("\n").indexOf('rate = "10 Mbit/s"') + 1;
    await write(page, TWO_RENO.replace("10 Mbit/s", "10 parsec"));
    await page.locator("#problems").getByText(`line ${line}`).waitFor();
    await page.locator("#verdict-text.past").waitFor({ state: "attached" });
    expect(await page.locator("#problems").textContent()).toContain("links.bottleneck.rate");
    await write(page, `${TWO_RENO}\n[flows.other`);
    await page.locator("#problems li").first().waitFor();
    await write(page, TWO_RENO);
    await expectSame(page, TWO_RENO);
    expect(await page.locator("#problems li").count()).toBe(0);
    expect(await page.locator("#verdict-text.past").count()).toBe(0);
  });

  test("no number of another scenario is bold, at any moment", async () => {
    const page = await visit(served.address);
    const shown = (): Promise<string> => page.locator("#live .numbers").innerText();
    const before = await shown();
    await page.evaluate(() => {
      const list = document.querySelector("#live .numbers");
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      new MutationObserver(() => {
        const isBold = !list?.classList.contains("past");
        if (isBold) seen.push((list as HTMLElement).innerText);
      }).observe(list as Node, { attributes: true, childList: true, subtree: true });
    });
    await page.locator("#preset-choice").selectOption("first");
    await page.locator("#live .numbers.past").waitFor();
    await ended(page);
    expect(await shown()).not.toBe(before);
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
    expect(new Set(seen)).toEqual(new Set([await shown()]));
  });

  test("the verdict says what the command line says, and its numbers can be typed over", async () => {
    const page = await visitVerdict(served.address);
    const text = await page.locator("#text").inputValue();
    const summary = commandLineSummary(text);
    const verdict = page.locator("#verdict-text");
    const values = (): Promise<string[]> =>
      verdict
        .locator("input")
        .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value));
    expect(await verdict.locator("select").inputValue()).toBe("voice");
    expect(await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen)).toEqual([
      duration(0.1),
      percent(summary.links["down"]?.utilization ?? Number.NaN, 1),
      duration(summary.groups["voice"]?.queue_delay_s_p99 ?? Number.NaN),
    ]);
    expect(await verdict.locator(".command code").textContent()).toMatch(/bfifo limit 250000$/);
    await fill(verdict.getByLabel("Buffer"), "50 ms");
    await expect.poll(() => page.locator("#text").inputValue()).toContain('limit = "50 ms"');
    expect((await values())[0]).toBe(duration(0.05));
    await fill(verdict.getByLabel("Buffer"), "83 packets");
    await expect.poll(() => page.locator("#text").inputValue()).toContain('limit = "83 packets"');
    await expect.poll(async () => (await values())[0]).toBe(packets(83));
    await fill(verdict.getByLabel("Buffer"), "many");
    expect(await verdict.getByLabel("Buffer").getAttribute("aria-invalid")).toBe("true");
    expect(complaints).toEqual([]);
  });

  test("a buffer in bytes is studied in bytes: the verdict stays that of the run", async () => {
    const page = await visit(served.address);
    const text = PRESETS.find(({ name }) => name === "dsl")?.text ?? "";
    await page.locator("#preset-choice").selectOption("dsl");
    const verdict = page.locator("#verdict-text");
    await verdict.getByText(/means of \d+ runs/).waitFor();
    // `tailroom run dsl --seeds 3`: 508 ms; 42 packets, which hold 63 kB of 1500 B: 141 ms.
    const wait = await verdict.getByLabel("Wait of 99 % of the packets").inputValue();
    const p99 = commandLineSummary(text).groups["voice_up"]?.queue_delay_s_p99 ?? Number.NaN;
    expect(Number.parseFloat(wait) / (1000 * p99)).toBeGreaterThan(0.95);
    expect(Number.parseFloat(wait) / (1000 * p99)).toBeLessThan(1.05);
    expect(await verdict.locator(".command code").textContent()).toMatch(/bfifo limit 64000$/);
    await verdict.getByText(/^Half the buffer \(32\skB\): .* less wait\. Twice/).waitFor();
    const slider = page.getByRole("slider");
    await slider.press("ArrowLeft");
    await expectText(page, 'limit = "63700 B"');
    await slider.press("ArrowRight");
    await expectText(page, 'limit = "64000 B"');
  });

  test("a limit that is never reached changes nothing, and a proposal has its price", async () => {
    const page = await visit(served.address);
    const verdict = page.locator("#verdict-text");
    await verdict
      .getByText(/^Gained with fq_codel .*voice: .* less wait.*Lost: .* less utilization/)
      .waitFor();
    await verdict.getByRole("button", { name: "Use fq_codel" }).click();
    await verdict
      .getByText(/give the same results, run by run: the limit is never reached\./)
      .waitFor();
    await page.locator("#preset-choice").selectOption("satellite");
    await verdict.getByText(/^Not proposed here: pie, codel, fq_codel, .* up to 100\sms/).waitFor();
    expect(await verdict.getByRole("button", { name: /^Use / }).count()).toBe(0);
  });

  test("undo and redo go through settled changes, and one's own scenario is never lost", async () => {
    const page = await visit(served.address);
    const area = page.locator("#text");
    const shipped = await area.inputValue();
    const undo = page.getByRole("button", { name: "Undo" });
    const redo = page.getByRole("button", { name: "Redo" });
    expect(await undo.isDisabled()).toBe(true);
    await write(page, TWO_RENO);
    await expect.poll(() => undo.isEnabled()).toBe(true);
    const limit = page.getByRole("group", { name: "Link “bottleneck”" }).getByLabel("Limit");
    await fill(limit, "30 packets");
    const own = TWO_RENO.replace("20 packets", "30 packets");
    await undo.click();
    await expect.poll(() => area.inputValue()).toBe(TWO_RENO);
    await page.goBack();
    await expect.poll(() => area.inputValue()).toBe(shipped);
    await redo.click();
    await expect.poll(() => area.inputValue()).toBe(TWO_RENO);
    await redo.click();
    await expect.poll(() => area.inputValue()).toBe(own);
    await expect.poll(() => redo.isDisabled()).toBe(true);
    const choice = page.locator("#preset-choice");
    await choice.selectOption("first");
    await expect.poll(() => area.inputValue()).not.toBe(own);
    await choice.selectOption({ label: "your own scenario" });
    await expect.poll(() => area.inputValue()).toBe(own);
    expect(complaints).toEqual([]);
  });

  test("a damaged address, broken TOML and a wrong seed are said where the eye is", async () => {
    const page = await visit(`${served.address}#1.garbage!!!`);
    const notice = page.locator("#notice");
    expect(await notice.textContent()).toContain("This address is damaged");
    await notice.getByRole("button", { name: "Close" }).click();
    expect(await notice.textContent()).toBe("");
    await write(page, `${TWO_RENO}\n[flows.other`);
    await notice.getByText("The scenario has a problem").waitFor();
    await page.getByRole("slider").focus();
    await page.keyboard.press("Home");
    await notice.getByText("not valid TOML").waitFor();
    await write(page, TWO_RENO);
    await expectSame(page, TWO_RENO);
    expect(await notice.textContent()).toBe("");
    const seed = page.getByRole("group", { name: "Run" }).getByLabel("Seed");
    await fill(seed, "9007199254740993");
    await expect.poll(() => page.locator("#text").inputValue()).toContain("9007199254740993");
    await ended(page);
    await expectSame(page, await page.locator("#text").inputValue());
    expect(await seed.inputValue()).toBe("9007199254740993");
    expect(await page.locator("#live > p.quiet").textContent()).toContain("seed 9007199254740993");
    await fill(seed, "99999999999999999999");
    await page.getByText("is not a whole number from 0").waitFor();
  });

  test("a target says what it was taken for, and the answer can be used", async () => {
    const page = await visit(served.address);
    await write(page, TWO_RENO);
    await expectSame(page, TWO_RENO);
    const field = page.getByRole("textbox", { name: "Utilization at least" });
    for (const text of ["98", "98 %", "0.98"]) {
      await fill(field, text);
      await page.getByText(/^Understood: at least 98\.0\s%/).waitFor();
    }
    await page.getByText("Targets of a group").click();
    await fill(page.getByRole("textbox", { name: "packets of reno wait" }), "0.05 s");
    await page.getByText(/^Understood: 99 of 100 packets wait at most 50\sms/).waitFor();
    const use = page.getByRole("button", { name: /^Use \d+\spackets?$/ });
    await use.waitFor();
    await page.locator("#trade-off").getByText(/^Done/).waitFor();
    expect(await page.locator("#elsewhere").textContent()).toContain(
      "reno.queue_delay_s_p99 <= 50ms",
    );
    const answer = /\d+/.exec((await use.textContent()) ?? "")?.[0] ?? "";
    const command = page.locator("#verdict-text .command code");
    expect(await command.textContent()).toMatch(new RegExp(`limit ${answer}$`));
    await use.click();
    await expect
      .poll(() => page.locator("#text").inputValue())
      .toMatch(new RegExp(`limit = "${answer} packets?"`));
    await expect.poll(() => use.isHidden()).toBe(true);
  });

  test("a point of the frontier that is pressed becomes the setting", async () => {
    const page = await visit(served.address);
    await write(page, TWO_RENO);
    await expectSame(page, TWO_RENO);
    const picture = page.locator("#frontier-picture");
    await expect
      .poll(() => picture.getAttribute("aria-label"))
      .toMatch(/fq_codel: target delay: from/);
    await page.locator("#trade-off").getByText(/^Done/).waitFor();
    const box = await picture.locator(".u-over").boundingBox();
    if (!box) throw new Error("no picture");
    await page.locator("#frontier").scrollIntoViewIfNeeded();
    // The lowest wait of all is at the left end.
    const over = picture.locator(".u-over");
    const before = await page.locator("#text").inputValue();
    for (let y = 10; y < box.height; y += 20) {
      await over.click({ position: { x: 4, y } });
      if ((await page.locator("#text").inputValue()) !== before) break;
    }
    expect(await page.locator("#text").inputValue()).not.toBe(before);
    await ended(page);
    expect(await page.locator("#problems li").count()).toBe(0);
    expect(await page.locator("#verdict-text.past").count()).toBe(0);
  });

  test("a drag along the frontier of a pool sets its alpha", async () => {
    const page = await visit(served.address);
    await write(page, TWO_PORTS);
    await ended(page);
    const picture = page.locator("#frontier-picture");
    await expect.poll(() => picture.getAttribute("aria-label")).toMatch(/alpha of the pool: from/);
    await page.locator("#trade-off").getByText(/^Done/).waitFor();
    const over = picture.locator(".u-over");
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    if (!box) throw new Error("no picture");
    const text = page.locator("#text");
    const alpha = async (): Promise<number> =>
      Number(/alpha = ([\d.]+)/.exec(await text.inputValue())?.[1]);
    // The shortest wait, of the smallest alpha, is at the left end; more runs move the point.
    const atLeft = async (press: (y: number) => Promise<void>, before: number): Promise<void> => {
      for (let y = 10; y < box.height; y += 20) {
        await press(y);
        if ((await alpha()) !== before) return;
      }
    };
    await atLeft((y) => over.click({ position: { x: 4, y } }), 1);
    await expectText(page, "alpha = 0.0078125");
    await ended(page);
    await atLeft(async (y) => {
      await over.hover({ position: { x: 4, y } });
      await page.mouse.down();
      await over.hover({ position: { x: box.width - 4, y: box.height - 4 } });
      await page.mouse.up();
    }, 0.0078125);
    await expect.poll(alpha).toBeGreaterThan(1);
    await ended(page);
    expect(await page.locator("#problems li").count()).toBe(0);
    expect(await page.locator("#verdict-text.past").count()).toBe(0);
  });

  test("the memory of a pool stands next to the other pictures, which share pointer and zoom", async () => {
    const page = await visit(served.address);
    const memory = page.locator("#picture-memory");
    expect(await memory.isVisible()).toBe(false);
    await write(page, POOL);
    await memory.waitFor();
    await ended(page);
    const words = (await memory.getAttribute("aria-label")) ?? "";
    expect(words).toMatch(/^Memory of asic\. memory \(MB\) over time \(s\)\. port\d: from/);
    expect(words).toContain("2 others: from");
    const fills = await memory
      .locator(".u-series.area .u-marker")
      .evaluateAll((all) => all.map((one) => (one as HTMLElement).style.background));
    expect(new Set(fills.filter(Boolean)).size).toBe(7);
    const values = (): Promise<string[]> => memory.locator(".u-value").allTextContents();
    const before = await values();
    const queue = page.locator("#picture-queue .u-over");
    const box = await queue.boundingBox();
    if (!box) throw new Error("no picture");
    await queue.hover({ position: { x: 0.5 * box.width, y: 40 } });
    await expect.poll(values).not.toEqual(before);
    expect(Number((await values())[0])).toBeCloseTo(0.5, 1);
    // The legend of one line is there for its values alone.
    const legend = page.locator("#picture-queue .u-legend");
    expect(await legend.isVisible()).toBe(true);
    await page.mouse.move(0, 0);
    await expect.poll(() => legend.isVisible()).toBe(false);
    await queue.hover({ position: { x: 0.5 * box.width, y: 40 } });
    await page.mouse.down();
    await queue.hover({ position: { x: 0.6 * box.width, y: 40 } });
    await page.mouse.up();
    // A tenth of the run is as wide as the whole of it was: its middle is at 0.55 s.
    await memory.locator(".u-over").hover({ position: { x: 0.5 * box.width, y: 40 } });
    await expect.poll(async () => Number((await values())[0])).toBeCloseTo(0.55, 1.5);
    // The lines that the pointer does not touch are pale, in the legend too.
    await page.mouse.move(0, 0);
    expect(await seriousFindings(page)).toEqual([]);
    await page.locator("#preset-choice").selectOption("first");
    await memory.waitFor({ state: "hidden" });
    const named = page.locator("#picture-choice");
    await expect.poll(() => named.textContent()).not.toContain("memory");
    expect(complaints).toEqual([]);
  });

  test("a run of a billion packets freezes nothing and is cancelled", async () => {
    const page = await visit(served.address);
    await write(page, ENDLESS);
    await page.getByText(/Simulated .* of 12,000 s/).waitFor();
    const frames = await page.evaluate(async () => {
      const times: number[] = [];
      await new Promise<void>((done) => {
        const frame = (time: number): void => {
          times.push(time);
          if (times.length < 30) requestAnimationFrame(frame);
          else done();
        };
        requestAnimationFrame(frame);
      });
      return (times.at(-1) ?? 0) - (times[0] ?? 0);
    });
    expect(frames, "30 frames").toBeLessThan(5000);
    const running = page.getByText(/Simulated .* of 12,000 s/);
    expect(await running.textContent()).not.toContain("the run before");
    expect(await number(page, "Loss"), "no number of another scenario").toBe("–");
    const bold = page.locator("#live .numbers:not(.past)");
    expect(await bold.count(), "no bold number of a run in progress").toBe(0);
    const said = await page
      .locator("#verdict-text input")
      .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value));
    expect(said.slice(1)).toEqual(["…", "…"]);
    await write(page, TWO_RENO);
    await expectSame(page, TWO_RENO);
    expect(complaints).toEqual([]);
  });

  test("files and Python code are refused with the way to get them", async () => {
    const page = await visit(served.address);
    const named = TWO_RENO.replace('rate = "10 Mbit/s"', 'trace = "/etc/passwd"');
    await write(page, named);
    await page.locator("#problems li").first().waitFor();
    expect(await page.locator("#problems").textContent()).not.toContain("root:");
    await write(page, TWO_RENO.replace('"reno"', '"os:system"'));
    await page.locator("#problems li").getByText("os:system").first().waitFor();
    expect(await page.locator("#problems").textContent()).toContain("`tailroom run`");
    expect(await page.locator("#elsewhere").textContent()).toContain("stores that keep runs");
  });

  test("a buffer has the same size wherever it is shown", async () => {
    const page = await visit(served.address);
    await write(page, TWO_RENO.replace("20 packets", "25 kB"));
    await page
      .locator("#slider output")
      .getByText(/^25\skB · 20\sms · .* · 16\spackets$/)
      .waitFor();
    await page.getByText("Keep this setting").click();
    const link = page.getByRole("group", { name: "Link “bottleneck”" });
    await link.getByLabel("Queue").selectOption("fq_codel");
    const limits = page
      .locator("#kept tr")
      .filter({ hasText: /^Limit/ })
      .locator("td");
    await expect.poll(() => limits.allTextContents()).toEqual(Array(2).fill("25\u202fkB"));
    // Linux counts the limit of this discipline in packets.
    const verdict = page.locator("#verdict-text");
    expect(await verdict.locator(".command").textContent()).not.toContain("limit");
    expect(await verdict.textContent()).toContain("left out: queue.limit");
  });

  test("a queue with a threshold is studied from the smallest limit that it accepts", async () => {
    const page = await visit(served.address);
    const marking = 'kind = "step_mark", threshold = "10 packets"';
    await write(page, TWO_RENO.replace('kind = "drop_tail"', marking));
    const study = page.locator("#trade-off");
    await study.getByText("accepts no limit below 11 packets").waitFor();
    await study.getByText(/^Done/).waitFor();
    expect(await study.textContent()).not.toContain("failed");
    await page.getByRole("slider").focus();
    await page.keyboard.press("Home");
    await expect.poll(() => page.locator("#text").inputValue()).toContain('limit = "11 packets"');
    await ended(page);
    expect(await page.locator(".complaint:visible").count()).toBe(0);
  });

  test("titles and names are text, not HTML", async () => {
    const page = await visit(served.address);
    const evil = "<img src=x onerror='globalThis.broken = true'>";
    const text = TWO_RENO.replace("Two Reno flows", evil);
    await write(page, text);
    await expectSame(page, text);
    // A group cannot have such a name; the message quotes it.
    await write(page, text.replace("flows.reno", `flows."${evil}"`));
    await page.locator("#problems li").getByText(evil).first().waitFor();
    expect(await page.evaluate(() => "broken" in globalThis)).toBe(false);
    expect(await page.locator("img").count()).toBe(0);
  });

  test("packets are watched, stopped, and stepped through loss by loss with the keyboard", async () => {
    const page = await visit(served.address);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await write(page, TWO_RENO);
    await expectSame(page, TWO_RENO);
    const part = page.locator("#packets");
    await part.getByRole("button", { name: "Watch packets" }).press("Enter");
    await part.getByText(/packets arrive at bottleneck/).waitFor();
    const moment = (): Promise<string | null> => part.getByRole("img").getAttribute("aria-label");
    const still = await moment();
    await page.waitForTimeout(300);
    expect(await moment()).toBe(still);
    expect(still).toContain("0 dropped so far");
    for (const dropped of [1, 2]) {
      await part.getByRole("button", { name: "Next loss" }).press("Enter");
      expect(await moment()).toContain(`${dropped} dropped so far`);
    }
    await part.getByRole("button", { name: "Loss before" }).press("Enter");
    expect(await moment()).toContain("1 dropped so far");
    await part.getByRole("button", { name: "Play" }).press("Enter");
    await part.getByRole("button", { name: "Pause" }).press("Enter");
    expect(await seriousFindings(page)).toEqual([]);
    await write(page, TWO_RENO.replace("count = 2", "count = 3"));
    await expect.poll(() => part.getByRole("img").isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  test("marked packets have a bar, which the legend explains, and are stepped through", async () => {
    const page = await visit(served.address);
    await page.emulateMedia({ reducedMotion: "reduce" });
    const part = page.locator("#packets");
    const watch = async (text: string): Promise<void> => {
      await write(page, text);
      await expectSame(page, text);
      await part.getByRole("button", { name: "Watch packets" }).press("Enter");
      await part.getByText(/packets arrive at bottleneck/).waitFor();
    };
    const next = part.getByRole("button", { name: "Next mark" });
    const legend = part.getByText("marked (ECN)");
    const marking = TWO_RENO.replace(
      'kind = "drop_tail"',
      'kind = "step_mark", threshold = "5 packets"',
    );
    await watch(marking.replace(/congestion = .*/, '$&\necn = "classic"'));
    await legend.waitFor();
    // The lowest third of a packet in the colour of the text, of which there is none before the first mark.
    const bars = (): Promise<number> =>
      part.locator(".waiting canvas").evaluate((canvas: HTMLCanvasElement) => {
        const drawn = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height);
        const data = drawn?.data ?? [];
        let count = 0;
        for (let at = 0; at < data.length; at += 4) {
          if (data[at] === 0x1c && data[at + 1] === 0x1c && data[at + 3] === 255) count++;
        }
        return count;
      });
    const moment = (): Promise<string | null> => part.getByRole("img").getAttribute("aria-label");
    const marked = async (): Promise<number> =>
      Number(/(\d+) marked so far$/.exec((await moment()) ?? "")?.[1]);
    expect(await marked()).toBe(0);
    const counts: number[] = [];
    for (const name of ["Next mark", "Next mark", "Mark before"]) {
      await part.getByRole("button", { name }).press("Enter");
      counts.push(await marked());
      expect(await bars()).toBeGreaterThanOrEqual(1);
    }
    expect(counts[0]).toBeGreaterThan(0);
    expect(counts[1]).toBeGreaterThan(counts[0] ?? 0);
    expect(counts[2]).toBe(counts[0]);
    const picture = process.env["TAILROOM_PICTURE"];
    if (picture !== undefined) await part.screenshot({ path: picture });
    expect(await seriousFindings(page)).toEqual([]);
    await watch(TWO_RENO);
    expect(await next.isVisible()).toBe(false);
    expect(await legend.count()).toBe(0);
    expect(await bars()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("a story asks, runs and compares, by keyboard, and says what the command line says", async () => {
    const page = await visitStory(`${served.address}#story=bufferbloat`);
    const told = page.locator("#story");
    const run = told.getByRole("button", { name: "Run it" });
    expect(await run.isDisabled()).toBe(true);
    await told.getByRole("button", { name: "buffer", exact: true }).press("Enter");
    await told.getByText("The memory of a link for waiting packets").waitFor();
    await told.getByRole("slider").press("Home");
    await run.press("Enter");
    await told.getByRole("link", { name: "Next step" }).waitFor();
    const link = told.getByRole("link", { name: "in the explorer" });
    const explorer = await open((await link.getAttribute("href")) ?? "");
    const summary = commandLineSummary(await explorer.locator("#text").inputValue());
    const wait = duration(summary.groups["voice"]?.queue_delay_s_p99 ?? Number.NaN);
    expect(await told.locator(".numbers dd").allTextContents()).toEqual([duration(0.001), wait]);
    for (const colours of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: colours });
      expect(await seriousFindings(page), colours).toEqual([]);
    }
    await told.getByRole("link", { name: "Next step" }).press("Enter");
    await told.getByText("Step 2 of 4").waitFor();
    expect(page.url()).toContain("#story=bufferbloat/2");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Bufferbloat");
    await page.goBack();
    await told.getByText("Step 1 of 4").waitFor();
    await page.getByRole("link", { name: "The explorer" }).click();
    await ended(page);
    expect(complaints).toEqual([]);
  });

  test("the story of the switch fits 320 px, and its run opens in the explorer", async () => {
    const page = await visitStory(`${served.address}#story=switch`, 320);
    const told = page.locator("#story");
    await page.emulateMedia({ reducedMotion: "reduce" });
    await told.getByRole("radio").first().check();
    await told.getByRole("button", { name: "Run it" }).click();
    await told.getByRole("link", { name: "Next step" }).waitFor();
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBeLessThanOrEqual(0);
    await told.getByRole("link", { name: "in the explorer" }).click();
    await ended(page);
    expect(await page.locator("#text").inputValue()).toContain("[pools.memory]");
    expect(complaints).toEqual([]);
  });

  test("an embedded page has its parts alone, follows its slider, and leads to the whole", async () => {
    const page = await visit(served.address);
    await write(page, TWO_RENO);
    await expectSame(page, TWO_RENO);
    await expect.poll(() => page.url()).toContain("#1.");
    const embedded = await open(page.url().replace("#", "#embed=slider,numbers,queue&"));
    expect(await embedded.locator("section:visible").evaluateAll(ids)).toEqual(["see"]);
    expect(await embedded.locator("figure:visible, #slider:visible, dl:visible").count()).toBe(3);
    expect(await seriousFindings(embedded)).toEqual([]);
    await embedded.getByRole("slider").press("Home");
    await embedded
      .locator("#slider output")
      .getByText(/^1\spacket/)
      .waitFor();
    const [whole] = await Promise.all([
      context.waitForEvent("page"),
      embedded.getByRole("link", { name: "Open in tailroom" }).click(),
    ]);
    await ended(whole);
    expect(await whole.locator("#text").inputValue()).toContain('limit = "1 packet"');
    await embedded.evaluate(() => window.postMessage({ theme: "dark" }, "*"));
    await embedded.locator("html[data-theme=dark]").waitFor();
    // Whom a discipline helps is said where the verdict is, and without the frontier.
    const verdict = await open(`${served.address}#embed=verdict`);
    await verdict.locator(".instead").getByText("Gained with fq_codel (a queue per flow").waitFor();
    await verdict.getByRole("button", { name: "Use fq_codel" }).click();
    await expectText(verdict, 'kind = "fq_codel"');
    for (const inherited of ["constructor", "__proto__", "toString,verdict"]) {
      const page = await context.newPage();
      await page.goto(`${served.address}#embed=${inherited}`);
      await page.getByText(`The page has no part ${inherited.split(",")[0]};`).waitFor();
      await page.close();
    }
    const wrong = await open(`${served.address}#embed=queue,pie`);
    await wrong.locator("#notice").getByText("no part pie").waitFor();
    expect(complaints).toEqual([]);
  });

  test("the slider of a switch sets the limit of all its ports, or of all interfaces", async () => {
    const page = await visit(served.address);
    await write(page, SWITCH);
    const slider = page.getByRole("slider", { name: /^Buffer of/ });
    await page.getByText("Buffer of every port of switch tor").waitFor();
    await page.locator("#links").getByRole("button", { name: "tor-switch-h0" }).waitFor();
    await slider.press("Home");
    await expectText(page, 'queue = { kind = "drop_tail", limit = "1 packet" }');
    await page.locator("#links").getByRole("button", { name: "tor-h1-switch" }).click();
    await page.getByText("Buffer of every host's interface of switch tor").waitFor();
    await slider.press("Home");
    await expectText(page, 'nic_queue = { kind = "fair", limit = "1 packet" }');
    await page
      .locator("#trade-off")
      .getByText(/rest on [1-9]/)
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("the warnings about a run stand next to its numbers, in the words of the command line", async () => {
    const page = await visit(served.address);
    const short = TWO_RENO.replace("10 s", "4 s");
    await write(page, short);
    await expectSame(page, short);
    const { warnings } = commandLineSummary(short);
    expect(warnings).not.toEqual([]);
    await page.getByText("about this run").click();
    const texts = page.locator("#live > .warnings > p");
    expect(await texts.allTextContents()).toEqual(warnings.map(({ text }) => text));
    expect(await seriousFindings(page)).toEqual([]);
    const long = TWO_RENO.replace("10 s", "100 s");
    await write(page, long);
    await expectSame(page, long);
    expect(await texts.count()).toBe(commandLineSummary(long).warnings.length);
  });

  test("two tabs do not disturb each other", async () => {
    const first = await visit(served.address);
    const second = await open(served.address);
    const other = TWO_RENO.replace("20 packets", "5 packets");
    await Promise.all([write(first, TWO_RENO), write(second, other)]);
    await expectSame(first, TWO_RENO);
    await expectSame(second, other);
  });

  test.each([320, 1280, 3840])(
    "axe finds nothing serious, and nothing overflows at %i px",
    async (width) => {
      const page = await visit(served.address, width);
      for (const colours of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: colours });
        expect(await seriousFindings(page), colours).toEqual([]);
      }
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow).toBeLessThanOrEqual(0);
    },
  );
});

test("the exported document draws its pictures from one file", async () => {
  const served = await serveStatic();
  const page = await visit(served.address);
  await write(page, TWO_RENO);
  await expectSame(page, TWO_RENO);
  const download = page.waitForEvent("download");
  await page
    .getByRole("button", { name: "These numbers and pictures (one HTML file, without the slider)" })
    .click();
  const file = await (await download).path();
  served.stop();
  const saved = await context.newPage();
  saved.on("pageerror", (error) => complaints.push(String(error)));
  saved.on("request", (request) => complaints.push(`asks for ${request.url()}`));
  await saved.setContent(readFileSync(file, "utf8"));
  await expect.poll(() => saved.locator("canvas").count()).toBeGreaterThanOrEqual(4);
  expect(await saved.locator("body").textContent()).toContain(await hash(page));
  // Nobody else can open what this host serves.
  expect(await saved.locator("a").count()).toBe(0);
  expect(await page.locator("#share").textContent()).toContain("Others cannot open this address");
  expect(complaints).toEqual([]);
});

test("the static page works without the network after it has loaded", async () => {
  const served = await serveStatic();
  const page = await visit(served.address);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload();
  await ended(page);
  served.stop();
  await page.reload();
  await ended(page);
  await write(page, TWO_RENO);
  await expectSame(page, TWO_RENO);
});

test("`tailroom explore FILE` opens the page with FILE and the files that it names", async () => {
  const directory = mkdtempSync(join(tmpdir(), "explore-"));
  const file = join(directory, "traced.toml");
  const traced = TWO_RENO.replace('rate = "10 Mbit/s"', 'trace = "link.trace"');
  writeFileSync(join(directory, "link.trace"), "1\n2\n4\n");
  writeFileSync(file, traced);
  const served = await serveExplore(file);
  try {
    const page = await visit(served.address);
    expect(await page.locator("#text").inputValue()).toBe(traced);
    expect(await page.locator("#preset-choice").inputValue()).toBe(`file ${file}`);
    const { utilization = Number.NaN } = commandLineSummary("", file).links["bottleneck"] ?? {};
    expect(await number(page, "Utilization")).toBe(percent(utilization));
    expect(await hash(page)).toContain("depends on the content");
    await write(page, traced.replace("link.trace", "other.trace"));
    await page.locator("#problems li").getByText("tailroom explore FILE").waitFor();
    await write(page, traced.replace("20 packets", "30 packets"));
    await ended(page);
    expect(await page.evaluate(() => navigator.serviceWorker.getRegistrations())).toEqual([]);
    expect(complaints).toEqual([]);
  } finally {
    served.stop();
  }
});

test("a copy opens with its scenario and files, embedded and without the network too", async () => {
  const directory = mkdtempSync(join(tmpdir(), "copy-"));
  const file = join(directory, "traced.toml");
  const traced = TWO_RENO.replace('rate = "10 Mbit/s"', 'trace = "link.trace"');
  writeFileSync(join(directory, "link.trace"), "1\n2\n4\n");
  writeFileSync(file, traced);
  const served = await serveStatic(writeCopy(file, join(directory, "page")));
  const { utilization = Number.NaN } = commandLineSummary("", file).links["bottleneck"] ?? {};
  const page = await visit(served.address);
  expect(await page.locator("#text").inputValue()).toBe(traced);
  expect(await page.locator("#preset-choice").inputValue()).toBe("file traced.toml");
  expect(await number(page, "Utilization")).toBe(percent(utilization));
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload();
  await ended(page);
  served.stop();
  await page.goto(`${served.address}#embed=slider,verdict,queue`);
  await page.locator(".embedded figure:has(#picture-queue)").waitFor();
  expect(await page.locator("#text").inputValue()).toBe(traced);
  expect(complaints).toEqual([]);
});

test("a page that is opened as a file says that it needs a web server", async () => {
  context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`file://${join(BUILT, "index.html")}`);
  await page.getByText("This page needs a web server: python -m http.server").waitFor();
});

async function fill(field: ReturnType<Page["getByLabel"]>, text: string): Promise<void> {
  await field.fill(text);
  await field.press("Enter");
}

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

async function seriousFindings(page: Page): Promise<string[]> {
  const session = await context.newCDPSession(page);
  // The page's policy forbids scripts of others; the debugger may run them.
  await session.send("Runtime.evaluate", { expression: AXE });
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run: () => Promise<{ violations: Finding[] }> };
    };
    return (await axe.run()).violations;
  });
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

if (!existsSync(CHROMIUM)) throw new Error(`no Chromium at ${CHROMIUM}; name one in CHROMIUM`);
