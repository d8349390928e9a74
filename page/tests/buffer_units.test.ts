import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ModelInput } from "../src/engine/engine";
import { limitPackets, readBottleneck, withLimit } from "../src/rules/bottleneck";
import { bdpText, limitTexts, wholePackets } from "../src/rules/buffer_units";

const EXPORTS = JSON.parse(
  readFileSync(new URL("./golden/exports.json", import.meta.url), "utf8"),
) as { input: ModelInput; link: string }[];

function homeRouter() {
  const found = EXPORTS.find(({ link }) => link === "down");
  const link = found && readBottleneck(found.input, found.link);
  if (!link) throw new Error("no home router");
  return link;
}

test("250 kB of a home router are 166 packets, and 2.62 BDP of the downloads", () => {
  const link = homeRouter();
  expect(limitTexts(link, limitPackets(link)).join(", ").replaceAll("\u202f", " ")).toBe(
    "166 packets, 250 kB, 100 ms, 2.62 BDP",
  );
  expect(bdpText(link, limitPackets(link))).toBe("2.62");
});

test("a limit of whole packets keeps them, and a queue holds at least one", () => {
  for (let limit = 1; limit < 2000; limit++) {
    expect(wholePackets((limit * 1514.2) / 1514.2)).toBe(limit);
    expect(wholePackets((limit * 0.1) / 0.1)).toBe(limit);
  }
  expect(wholePackets(0.3)).toBe(1);
  expect(wholePackets(41.7)).toBe(41);
});

test("a limit of the slider replaces that of the link alone", () => {
  const link = homeRouter();
  const moved = withLimit(link, 12);
  expect(limitPackets(moved)).toBe(12);
  expect({ ...moved, amounts: link.amounts }).toEqual(link);
});
