import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

test("the benchmark of the verdict asks what the page asks, and gets an answer", () => {
  const program = resolve(import.meta.dirname, "../benchmark/verdict.mjs");
  const printed = execFileSync("node", [program, "utilization"], { encoding: "utf-8" });
  expect(printed).toMatch(/ s, \d+ runs: Smallest buffer .* 95\s%\s+interval .*\sms\.\n$/);
}, 60_000);
