import { expect, test } from "vitest";
import { limitPackets, withLimit, type Bottleneck } from "../src/rules/bottleneck";
import { bdpText, limitTexts, wholePackets } from "../src/rules/buffer_units";

/** 250 kB at 20 Mbit/s, and downloads with a mean round trip of 38.2 ms. */
const HOME_ROUTER: Bottleneck = {
  name: "down",
  discipline: "drop_tail",
  amounts_packets: { limit: 250e3 / 1500 },
  classes: [],
  dynamic: [],
  streams: [],
  rate_bps: 20e6,
  packet_bytes: 1500,
  capacity_pps: 20e6 / 12_000,
  bdp_packets: (20e6 / 12_000) * 0.0382,
};

test("250 kB of a home router are 166 packets, and 2.62 BDP of the downloads", () => {
  expect(
    limitTexts(HOME_ROUTER, limitPackets(HOME_ROUTER)).join(", ").replaceAll("\u202f", " "),
  ).toBe("166 packets, 250 kB, 100 ms, 2.62 BDP");
  expect(bdpText(HOME_ROUTER, limitPackets(HOME_ROUTER))).toBe("2.62");
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
  const moved = withLimit(HOME_ROUTER, 12);
  expect(limitPackets(moved)).toBe(12);
  expect({ ...moved, amounts_packets: HOME_ROUTER.amounts_packets }).toEqual(HOME_ROUTER);
});
