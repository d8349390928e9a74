/** Addresses and saved pages of somebody else: the page stays responsive and in its width, and goes on. */

import { readFileSync, renameSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PRESETS } from "../../src/scenario/presets";
import { serveStatic, type Served } from "./servers";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const TEXT = `duration = "2 s"
[links.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "20 packets" }
[flows.reno]
path = ["bottleneck"]
congestion = "reno"
rtt = "40 ms"
`;
const EVIL = "<img src=x onerror='globalThis.broken = true'>";
const LONG = "W".repeat(50_000);
const [HEAD = "", FLOWS = ""] = TEXT.split("[flows.reno]");
const MANY = Array.from({ length: 500 }, (_, place) => `[flows.g${place}]${FLOWS}`);

const SCRIPT = "</script><script>globalThis.broken = true</script>";
/** Resident memory of the browser: an empty page takes a third. */
const MOST_MB = 2_000;

let browser: Browser;
let served: Served;

beforeAll(async () => {
  served = await serveStatic();
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
});

afterAll(async () => {
  await browser.close();
  served.stop();
});

function fragment(json: string): string {
  return `#1.${deflateRawSync(Buffer.from(json)).toString("base64url")}`;
}

function state(part: object): string {
  return fragment(JSON.stringify({ text: TEXT, link: null, targets: {}, kept: [], ...part }));
}

const ADDRESSES: Record<string, string> = {
  "no base64": "#1.%%%<>",
  "parts that objects inherit": "#embed=constructor,__proto__,toString,verdict",
  "parts of a story that objects inherit": "#story=constructor",
  "a million parts": `#embed=${"path,".repeat(200_000)}${EVIL},\u001b]0;title\u0007`,
  "a million characters": `#1.${"A".repeat(1_000_000)}`,
  "an archive bomb": fragment("\0".repeat(90_000_000)),
  "tables nested too deeply": fragment(`{"text":${"[".repeat(90_000)}`),
  "names of prototypes": fragment(
    `{"__proto__":{"text":"x"},"text":${JSON.stringify(TEXT)},"link":"__proto__",` +
      `"targets":{"__proto__":{"loss":1}},"kept":[{"name":"__proto__","text":"","link":"constructor"}]}`,
  ),
  "lines without end": state({ text: "\n".repeat(90_000) }),
  "one long line": state({ text: `${TEXT}# ${"x".repeat(190_000)}` }),
  "wrong keys": state({ text: Array.from({ length: 4_000 }, (_, n) => `k${n} = 1`).join("\n") }),
  "a long name of a group": state({ text: TEXT.replace("reno]", `${LONG}]`) }),
  "a long title": state({ text: `title = "${LONG.slice(0, 9_000)}"\n${TEXT}` }),
  "HTML in names": state({
    text: `title = "${EVIL}"\n${TEXT}`,
    kept: [{ name: EVIL, text: EVIL, link: EVIL }],
  }),
  "a long name of a kept setting": state({ kept: [{ name: LONG, text: TEXT, link: LONG }] }),
  "extreme targets": state({ targets: { utilization: 5e-324, delayS: 1e308, loss: 1e-300 } }),
  "many groups": state({ text: HEAD + MANY.join("") }),
  "more memory than there is": state({
    text: `memory_limit = "1000 GB"\n${TEXT.replace("rtt", "count = 16000000\nrtt")}`,
  }),
};

/** What every process of the browser has in memory together. */
async function residentMb(): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const sizes = processInfo.map(({ id }) => {
    const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${id}/status`, "utf8"));
    return Number(found?.[1] ?? 0);
  });
  return sizes.reduce((sum, size) => sum + size, 0) / 1000;
}

/** The longest time in which the page does not answer, while it is watched. */
async function longestSilenceMs(page: Page): Promise<number> {
  let longest = 0;
  for (const end = performance.now() + 3000; performance.now() < end;) {
    const asked = performance.now();
    await page.evaluate(() => 1);
    longest = Math.max(longest, performance.now() - asked);
    await page.waitForTimeout(50);
  }
  return longest;
}

test.each(Object.keys(ADDRESSES))("an address with %s does the page no harm", async (name) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => void dialog.dismiss().then(() => complaints.push("a dialog")));
  page.on("request", (request) => {
    if (!request.url().startsWith(served.address)) complaints.push(request.url());
  });
  await page.goto(`${served.address}${ADDRESSES[name] ?? ""}`);
  expect(await longestSilenceMs(page)).toBeLessThan(5000);
  expect(await residentMb()).toBeLessThan(MOST_MB);
  const [isBroken, images, overflow] = await page.evaluate(() => [
    "broken" in globalThis || "text" in {},
    document.querySelectorAll("img").length,
    document.documentElement.scrollWidth - document.documentElement.clientWidth,
  ]);
  expect([isBroken, images]).toEqual([false, 0]);
  expect(overflow).toBeLessThanOrEqual(0);
  const usual = PRESETS[0]?.text ?? "";
  await page.evaluate((hash) => (window.location.hash = hash), state({ text: usual }));
  await expect.poll(() => page.locator("#text").inputValue(), { timeout: 20_000 }).toBe(usual);
  await page.locator("#live > p.quiet").filter({ hasText: "simulated in" }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("a saved page of a hostile address draws its pictures, and runs and loads nothing", async () => {
  const title = `${EVIL}${SCRIPT}<!--\\u2028`;
  const text = `title = "${title}"\n# ${EVIL}${SCRIPT}<!--\u2028]]>\n${TEXT}`;
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(
    `${served.address}${state({ text, kept: [{ name: SCRIPT, text, link: EVIL }] })}`,
  );
  await page.locator("#live > p.quiet").filter({ hasText: "simulated in" }).waitFor();
  const download = page.waitForEvent("download");
  await page
    .getByRole("button", { name: "These numbers and pictures (one HTML file, without the slider)" })
    .click();
  const file = await (await download).path();
  renameSync(file, `${file}.html`);

  const saved = await context.newPage();
  const complaints: string[] = [];
  saved.on("pageerror", (error) => complaints.push(String(error)));
  saved.on("dialog", (dialog) => void dialog.dismiss().then(() => complaints.push("a dialog")));
  saved.on("request", (request) => {
    if (request.url() !== `file://${file}.html`) complaints.push(request.url());
  });
  await saved.goto(`file://${file}.html`);
  await expect.poll(() => saved.locator("canvas").count()).toBeGreaterThanOrEqual(4);
  expect(await saved.title()).toContain(EVIL);
  expect(await saved.locator("pre").textContent()).toBe(text);
  expect(await saved.locator("img").count()).toBe(0);
  expect(await saved.locator("script").count()).toBe(2);
  expect(await saved.evaluate(() => "broken" in globalThis)).toBe(false);
  expect(await residentMb()).toBeLessThan(MOST_MB);
  expect(complaints).toEqual([]);
  await context.close();
});

test("the form shows the first groups, and says how many more the text has", async () => {
  const page = await browser.newPage();
  await page.goto(`${served.address}${ADDRESSES["many groups"] ?? ""}`);
  await page.getByText("The text has 460 more groups of flows.").waitFor();
  expect(await page.locator("#controls legend").filter({ hasText: "Flows" }).count()).toBe(40);
  await page.close();
});

test("the numbers next to the text are those of the lines in sight", async () => {
  const page = await browser.newPage();
  const text = `${TEXT}${"\n".repeat(4_000)}wrong = 1\n`;
  await page.goto(`${served.address}${state({ text })}`);
  await page.locator("#problems button").first().click();
  await expect.poll(() => page.locator(".gutter strong").textContent()).toBe("4010\n");
  const numbers = ((await page.locator(".gutter").textContent()) ?? "").trim().split("\n");
  expect(numbers.length).toBeLessThan(60);
  expect(numbers.at(-1)).toBe("4011");
  await page.close();
});

test("packets of an address with 501 groups are watched, and nothing overflows", async () => {
  const page = await browser.newPage();
  await page.goto(`${served.address}${ADDRESSES["many groups"] ?? ""}`);
  await page.getByRole("button", { name: "Watch packets" }).click({ timeout: 60_000 });
  await page.locator("#packets canvas.span").waitFor();
  expect(await page.locator("#packets li").count()).toBe(13);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);
  await page.close();
});
