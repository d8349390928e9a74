import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sizeOfLink } from "../src/keep/commands";
import {
  estimateBuffer,
  MeasurementError,
  readMeasurement,
  textOf,
} from "../src/measured/measurement";
import { idleRtt, rateOfLoad } from "../src/measured/my_link";
import { measuredRtts, percentile, rttPicture, rttsOfRun } from "../src/measured/rtts";
import "./engine_here";

const ROOT = resolve(import.meta.dirname, "../..");
const SAMPLE = readFileSync(resolve(ROOT, "tests/measurements/simulated.flent.gz"));
const PRINTED = readFileSync(resolve(ROOT, "tests/printed/compare_measured.txt"), "utf8");
const GUIDE = readFileSync(resolve(ROOT, "docs/guide/measured.md"), "utf8");

async function sample(): Promise<ReturnType<typeof readMeasurement>> {
  return readMeasurement(await textOf(new Blob([SAMPLE])));
}

test("a measurement has the buffer that the command line prints in the guide", async () => {
  const measured = await sample();
  const { sentence } = estimateBuffer(measured, null);
  const printed = GUIDE.replaceAll(/\s+/g, " ");
  expect(printed).toContain(`Buffer: ${sentence}.`);
});

test("a measurement leads to the command that the command line asks next", async () => {
  const measured = await sample();
  const command = sizeOfLink(rateOfLoad(measured) ?? 0, idleRtt(measured, null) ?? 0);
  expect(PRINTED).toContain(`  ${command}\n`);
});

test("names in a file are quoted: a line feed would end the comment of a scenario", async () => {
  const document = JSON.parse(gunzipSync(SAMPLE).toString()) as { metadata: { NAME: string } };
  document.metadata.NAME = `x\n[links.evil]${"x".repeat(500)}`;
  const { tool } = readMeasurement(JSON.stringify(document));
  expect(tool).toContain("x\\x0a[links.evil]");
  expect(tool.length).toBeLessThan(80);
  await expect(sample()).resolves.toHaveProperty("tool", "flent tcp_nup");
});

test.each([
  ["BZh9", "bzip2"],
  ["\u001f\u008bx", "damaged"],
  ["hello", "no measurement"],
  ["{", "line 1"],
])("%j is refused with the reason", async (content, named) => {
  const file = new Blob([Uint8Array.from(content, (letter) => letter.charCodeAt(0))]);
  const read = textOf(file).then(readMeasurement);
  await expect(read).rejects.toThrow(MeasurementError);
  await expect(read).rejects.toThrow(named);
});

test("a file that decompresses to far more than any measurement is refused", async () => {
  const bomb = gzipSync(Buffer.alloc(65 * 2 ** 20, " "));
  await expect(textOf(new Blob([new Uint8Array(bomb)]))).rejects.toThrow("64 MB");
});

test("a run has the smallest smoothed RTT of each instant of its window", () => {
  const series = {
    flow_series: {
      time_s: [1, 1, 2, 2, 3, 3],
      flow: [0, 1, 0, 1, 0, 1],
      cwnd_packets: [1, 1, 1, 1, 1, 1],
      srtt_s: [0.01, 0.01, 0.03, 0.02, 0, 0.04],
    },
  };
  expect(rttsOfRun(series, 2)).toEqual({ times: [2, 3], rtts: [0.02, 0.04] });
});

test("percentiles lie on straight lines between the samples", () => {
  expect(percentile([4, 1, 3, 2], 90)).toBeCloseTo(3.7, 12);
  expect(percentile([], 50)).toBeNull();
});

test("the picture begins with the first RTT of each and ends with the last", async () => {
  const measured = measuredRtts(await sample());
  const picture = rttPicture(measured, { times: [7, 8], rtts: [0.02, 0.03] });
  const [ofMeasurement, ofRun] = picture?.lines ?? [];
  expect(ofMeasurement?.y[0]).toBeCloseTo(1e3 * (measured.rtts[0] ?? 0), 9);
  expect(ofMeasurement?.y.at(-1)).not.toBeNull();
  expect(ofRun?.y[0]).toBe(20);
  expect(ofRun?.y.at(-1)).toBeNull();
  expect(rttPicture({ times: [], rtts: [] }, { times: [], rtts: [] })).toBeNull();
});
