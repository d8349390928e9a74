/** The built page, served to a Chromium that nothing else uses. */

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, resolve } from "node:path";
import { chromium } from "playwright-core";

export const BUILT = resolve(import.meta.dirname, "../../python/tailroom/explore/page");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

const server = createServer((request, response) => {
  const path = new URL(request.url, "http://host").pathname;
  const file = join(BUILT, path === "/" ? "index.html" : path);
  try {
    statSync(file);
  } catch {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
  createReadStream(file).pipe(response);
});

/** Serves the page, and starts a browser. */
export async function begin() {
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  // Without it, sizes of the heap are rounded.
  const args = ["--no-sandbox", "--enable-precise-memory-info"];
  const browser = await chromium.launch({ executablePath, args });
  const end = async () => {
    await browser.close();
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${server.address().port}/`, browser, end };
}

/** Waits until the run at the slider has ended. */
export function runEnded(page) {
  const ended = page.locator("#live > p.quiet").filter({ hasText: "simulated in" });
  return ended.waitFor({ timeout: 120_000 });
}

/** Moves the slider to a place; returns the ms to the first picture, and to the end of the run. */
export function moveSlider(page, place) {
  return page.evaluate(async (value) => {
    const slider = document.querySelector("#buffer");
    const state = document.querySelector("#live > p.quiet");
    const first = new Promise((seen) => {
      const observer = new MutationObserver(() => {
        observer.disconnect();
        requestAnimationFrame(() => seen(performance.now()));
      });
      observer.observe(state, { childList: true, characterData: true, subtree: true });
    });
    const began = performance.now();
    slider.value = String(value);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const picture = (await first) - began;
    while (!state.textContent.includes("simulated in")) {
      await new Promise((frame) => requestAnimationFrame(frame));
    }
    return [picture, performance.now() - began];
  }, place);
}

/** The element of sorted numbers below which the fraction `q` of them lies. */
export const quantile = (sorted, q) =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
