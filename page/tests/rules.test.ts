import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ModelInput } from "../src/engine/engine";
import { equivalents, type Equivalent } from "../src/keep/other_tools";
import { readBottleneck, type Bottleneck } from "../src/rules/bottleneck";
import { general } from "../src/rules/general_format";
import { adviceFor } from "../src/rules/rules";

interface Golden {
  name: string;
  input: ModelInput;
  link: string;
  targets: {
    utilization: number;
    loss: number;
    advice: {
      rule: string;
      applies: boolean;
      packets?: number | null;
      words: string;
      assumptions?: [string, boolean, string][];
    }[];
  }[];
}

/** Of one flow the page has no sawtooth, and of some controls no window law. */
const NOT_PORTED = /sawtooth|the page knows no/;

function golden(name: string): unknown {
  const path = new URL(`./golden/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")) as unknown;
}

function linkOf(input: ModelInput, name: string): Bottleneck {
  const link = readBottleneck(input, name);
  if (!link) throw new Error(`no link ${name}`);
  return link;
}

const SETTINGS = golden("rules") as Golden[];

test.each(SETTINGS)("rules say of $name what Python's say", ({ input, link, targets }) => {
  for (const { utilization, loss, advice } of targets) {
    const ours = adviceFor(linkOf(input, link), { utilization, loss });
    expect(ours.map(({ rule }) => rule.name)).toEqual(advice.map(({ rule }) => rule));
    ours.forEach((one, place) => {
      const theirs = advice[place];
      if (!theirs || NOT_PORTED.test(one.words)) return;
      expect(one.words).toBe(theirs.words);
      expect(one.packets !== null).toBe(theirs.applies);
      if (one.packets === null) return;
      const packets = Number.isFinite(one.packets) ? one.packets : null;
      if (typeof theirs.packets === "number" && packets !== null) {
        expect(Math.abs(packets / theirs.packets - 1), one.rule.name).toBeLessThan(1e-9);
      } else expect(packets).toBe(theirs.packets);
      const found = one.assumptions.map((each) => [each.statement, each.holds, each.found]);
      expect(found, one.rule.name).toEqual(theirs.assumptions);
    });
  }
});

interface Export {
  input: ModelInput;
  link: string;
  limit: number;
  lines: Equivalent[];
}

test("a buffer in the words of other tools is what Python says", () => {
  for (const { input, link, limit, lines } of golden("exports") as Export[]) {
    expect(equivalents(linkOf(input, link), limit)).toEqual(lines);
  }
});

test("numbers are written as by Python's format g", () => {
  expect(general(0.00012345, 3)).toBe("0.000123");
  expect(general(0.0000123, 4)).toBe("1.23e-05");
  expect(general(1234567)).toBe("1.23457e+06");
  expect(general(100)).toBe("100");
  expect(general(Infinity, 3)).toBe("inf");
});
