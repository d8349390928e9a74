/**
 * Frames per second while 100,000 packets are shown, on a core that is four times slower, in Chromium:
 * `make page && node page/benchmark/packets.mjs`.
 *
 * Prints lines of a table; "idle" is after all studies, "studies" while those of the frontier go on. Nothing
 * else should run on the machine; where something does, the processor time of the page's thread per frame,
 * of which 18 ms make 55 frames, says more than the frames.
 */

import { deflateRawSync } from "node:zlib";
import { begin, runEnded } from "./served.mjs";

const SLOWER_CPU = 4;
const WATCHED_MS = 5000;
const CONDITIONS = [
  ["studies", "30"],
  ["idle", "10"],
  ["idle", "30"],
  ["idle", "1000"],
];
const STILL_MS = 4000;

/** A link of 83,333 packets per second, whose queue holds two bandwidth-delay products. */
const scenario = (discipline) => `title = "Ten flows"
duration = "6 s"
measure_from = "2 s"

[defaults]
host = "plain"

[links.bottleneck]
rate = "1 Gbit/s"
delay = "5 ms"
queue = ${discipline}

[flows.cubic]
count = 10
path = ["bottleneck"]
congestion = "cubic"
rtt = { uniform = ["30 ms", "50 ms"] }
`;
const QUEUES = {
  drop_tail: '{ kind = "drop_tail", limit = "2 bdp" }',
  fq_codel: '{ kind = "fq_codel" }',
};

/** Frames per second, and the longest time between two of them in milliseconds. */
function frames(page) {
  return page.evaluate(async (duration) => {
    const times = [await new Promise((frame) => requestAnimationFrame(frame))];
    while (times.at(-1) - times[0] < duration) {
      times.push(await new Promise((frame) => requestAnimationFrame(frame)));
    }
    const gaps = times.slice(1).map((time, place) => time - times[place]);
    return [(1000 * gaps.length) / (times.at(-1) - times[0]), Math.max(...gaps)];
  }, WATCHED_MS);
}

/** Waits until no run changes the frontier, which is computed last. */
async function studiesEnded(page) {
  const words = () => page.locator("#frontier-picture").getAttribute("aria-label");
  for (let [before, now] = ["", await words()]; before !== now;) {
    await page.waitForTimeout(STILL_MS);
    [before, now] = [now, await words()];
  }
}

const { address, browser, end } = await begin();
console.log(
  "| queue | when | times slower | frames per second | longest frame (ms) | processor time per frame (ms) |",
);
console.log("| --- | --- | --- | --- | --- | --- |");
for (const [name, queue] of Object.entries(QUEUES)) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const state = { text: scenario(queue), link: null, targets: {}, kept: [] };
  const code = deflateRawSync(Buffer.from(JSON.stringify(state))).toString("base64url");
  await page.goto(`${address}#1.${code}`);
  await runEnded(page);
  await page.locator("#trade-off").getByText(/^Done/).waitFor({ timeout: 300_000 });
  await page.locator("#packets").getByText("Watch packets").click();
  const play = page.locator("#packets").getByRole("button", { name: /^(Play|Pause)$/ });
  await play.waitFor({ timeout: 120_000 });
  await play.scrollIntoViewIfNeeded();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOWER_CPU });
  const busyMs = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return 1000 * metrics.find((one) => one.name === "TaskDuration").value;
  };
  for (const [when, speed] of CONDITIONS) {
    if (when === "idle") await studiesEnded(page);
    await page.locator("#packets select").selectOption(speed);
    if ((await play.textContent()) === "Play") await play.click();
    const before = await busyMs();
    const [perSecond, longest] = await frames(page);
    const busy = ((await busyMs()) - before) / ((perSecond * WATCHED_MS) / 1000);
    const cells = [name, when, speed, perSecond.toFixed(1), longest.toFixed(0), busy.toFixed(1)];
    console.log(`| ${cells.join(" | ")} |`);
  }
  console.log(await page.locator("#packets > p.quiet").textContent());
  await page.close();
}
await end();
