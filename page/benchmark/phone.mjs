/**
 * What a phone feels, in Chromium with 375 pixels and a core that is four times slower: when the first picture
 * and the verdict of the home router are there, how far the page shifts meanwhile, how soon the slider answers,
 * and the heap while the slider moves for MINUTES (10): `make page && node page/benchmark/phone.mjs [MINUTES]`.
 *
 * Nothing else should run on the machine.
 */

import { begin, moveSlider, quantile, runEnded } from "./served.mjs";

const SLOWER_CPU = 4;
const MOVES = 25;
const MEGABYTE = 1e6;
const minutes = Number(process.argv[2] ?? 10);
const place = (move) => 300 + 20 * ((move * 7) % 25);

const { address, browser, end } = await begin();
const page = await browser.newPage({ viewport: { width: 375, height: 800 } });
const devtools = await page.context().newCDPSession(page);
await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOWER_CPU });
await page.addInitScript(() => {
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
});
const began = Date.now();
const since = () => `${((Date.now() - began) / 1000).toFixed(1)} s`;
await page.goto(address);
await page.locator("#live canvas").first().waitFor();
console.log(`first picture: ${since()}`);
await runEnded(page);
console.log(`whole run: ${since()}`);
await page.getByText(/^Simulated: means of 3 runs/).waitFor({ timeout: 120_000 });
console.log(`means of three runs: ${since()}`);
await page.waitForTimeout(15_000);
console.log(`layout shift: ${(await page.evaluate(() => window.shift)).toFixed(3)}`);

const pictures = [];
for (let move = 0; move < MOVES; move++) {
  const [picture] = await moveSlider(page, place(move));
  pictures.push(picture);
  await page.waitForTimeout(150);
}
pictures.sort((a, b) => a - b);
const [median, most] = [0.5, 0.95].map((q) => quantile(pictures, q).toFixed(0));
console.log(`answer of the slider: median ${median} ms, 95 % within ${most} ms`);

let [move, largest] = [0, 0];
const used = () => page.evaluate(() => performance.memory.usedJSHeapSize);
for (const until = Date.now() + 60_000 * minutes; Date.now() < until; move++) {
  await moveSlider(page, place(move));
  largest = Math.max(largest, await used());
}
await devtools.send("HeapProfiler.collectGarbage");
const sizes = [largest, await used()].map((bytes) => (bytes / MEGABYTE).toFixed(1));
console.log(
  `heap in ${minutes} minutes and ${move} moves: at most ${sizes[0]} MB, ${sizes[1]} MB kept`,
);
await end();
