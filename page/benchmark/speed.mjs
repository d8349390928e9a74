/**
 * How fast the page is, in Chromium: from the slider to the first picture and to the whole run, frames
 * while it moves, points of the trade-off per second, and the size of what is downloaded.
 *
 *     make page && node page/benchmark/speed.mjs
 *
 * Prints lines of a table. Nothing else should run on the machine.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { begin, BUILT, moveSlider, quantile, runEnded } from "./served.mjs";

const POSITIONS = 20;
const STUDY_S = 20;
const MOVING_MS = 3000;
const RATES = ["100 Mbit/s", "1 Gbit/s", "10 Gbit/s"];

const scenario = (rate) => `title = "Ten flows"
duration = "20 s"
measure_from = "5 s"

[defaults]
host = "plain"

[links.bottleneck]
rate = "${rate}"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "0.5 bdp" }

[flows.cubic]
count = 10
path = ["bottleneck"]
congestion = "cubic"
rtt = { uniform = ["30 ms", "50 ms"] }
`;

/** Times from a movement of the slider to the first change of the live view, and to the whole run. */
async function latencies(page) {
  const times = [];
  for (let place = 0; place < POSITIONS; place++) {
    const step = 300 + Math.round((600 * ((place * 7) % POSITIONS)) / POSITIONS);
    times.push(await moveSlider(page, step));
  }
  return [0, 1].map((which) => times.map((time) => time[which]).sort((a, b) => a - b));
}

/** Frames per second while the slider moves in each of them. */
function frameRate(page) {
  return page.evaluate(async (duration) => {
    const slider = document.querySelector("#buffer");
    const began = performance.now();
    let frames = 0;
    while (performance.now() - began < duration) {
      slider.value = String(600 + Math.round(300 * Math.sin(frames++ / 30)));
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((frame) => requestAnimationFrame(frame));
    }
    return (1000 * frames) / (performance.now() - began);
  }, MOVING_MS);
}

/** Runs of the study that end per second. */
async function studySpeed(page) {
  const runs = () =>
    page.evaluate(() => {
      const text = document.querySelector("#trade-off").textContent;
      return Number(/rest on (\d+) runs?/.exec(text)?.[1] ?? 0);
    });
  const began = performance.now();
  let [first, last] = [0, 0];
  while (performance.now() - began < 1000 * STUDY_S) {
    await page.waitForTimeout(200);
    const now = await runs();
    if (first === 0 && now > 0) first = now;
    last = now;
    if ((await page.locator("#trade-off").textContent()).includes("Done")) break;
  }
  return ((last - first) / (performance.now() - began)) * 1000;
}

function sizes() {
  const files = readdirSync(BUILT, { recursive: true }).filter((name) =>
    statSync(join(BUILT, name)).isFile(),
  );
  const zipped = files.map((name) => gzipSync(readFileSync(join(BUILT, name))).length);
  const total = zipped.reduce((sum, size) => sum + size, 0);
  console.log(`download, gzipped: ${(total / 1e3).toFixed(0)} kB in ${files.length} files`);
}

const { address, browser, end } = await begin();
sizes();
console.log(
  "| rate | first picture p50, p95 (ms) | whole run p50, p95 (ms) | frames per second, slider moving | " +
    "runs of the study per second |",
);
console.log("| --- | --- | --- | --- | --- |");
for (const rate of RATES) {
  const page = await browser.newPage();
  await page.goto(address);
  await runEnded(page);
  await page.locator("#text").fill(scenario(rate));
  await page.getByText(/^20 s simulated in/).waitFor({ timeout: 60_000 });
  const [first, whole] = await latencies(page);
  const cells = [first, whole].map((times) =>
    [0.5, 0.95].map((q) => quantile(times, q).toFixed(0)).join(", "),
  );
  const frames = await frameRate(page);
  await page.getByText(/^20 s simulated in/).waitFor({ timeout: 60_000 });
  const speed = await studySpeed(page);
  console.log(`| ${rate} | ${cells.join(" | ")} | ${frames.toFixed(0)} | ${speed.toFixed(1)} |`);
  await page.close();
}
await end();
