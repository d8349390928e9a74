/**
 * Takes the pictures of docs/guide/explore.md: `make page && node page/benchmark/screenshots.mjs`.
 *
 * A home router's drop-tail queue compared with FQ-CoDel, with targets.
 */

import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const REPOSITORY = resolve(import.meta.dirname, "../..");
const IMAGES = join(REPOSITORY, "docs/images");
const SECOND = 1000;

const command = spawn(join(REPOSITORY, ".venv/bin/tailroom"), [
  "explore",
  "home-router",
  "--port",
  "0",
]);
const line = await new Promise((said) =>
  createInterface({ input: command.stdout }).once("line", said),
);
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, locale: "en-GB" });

async function fill(label, value) {
  await page.getByLabel(label).fill(value);
  await page.getByLabel(label).press("Enter");
}

async function done() {
  await page
    .locator("#trade-off")
    .getByText(/^Done/)
    .waitFor({ timeout: 120 * SECOND });
}

await page.goto(line.split(" ")[0]);
await done();
await page.getByRole("button", { name: "Use fq_codel" }).waitFor({ timeout: 120 * SECOND });
await page.screenshot({ path: join(IMAGES, "explore.png") });
await fill("Utilization at least", "95");
await fill("99 % of packets wait at most", "40");
await fill("Name", "drop-tail");
await page.getByText("Keep this setting").click();
await page.getByRole("group", { name: /^Link/ }).getByLabel("Queue").selectOption("fq_codel");
await page.waitForTimeout(2 * SECOND);
await done();
await page.waitForTimeout(10 * SECOND);
await page.locator("#trade-off").evaluate((one) => one.scrollIntoView({ block: "start" }));
await page.screenshot({ path: join(IMAGES, "explore-trade-off.png") });
await browser.close();
command.kill("SIGINT");
