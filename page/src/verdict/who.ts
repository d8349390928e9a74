/** Whose packets the page watches. */

import type { Reading } from "../scenario/reading";
import type { Bottleneck } from "../engine/engine";

/** A stream of at most this share of the rate is a call, a game or a probe, not a load. */
const SMALL = 0.1;

export function groupNames({ scenario }: Reading): string[] {
  return Object.keys(scenario["flows"] ?? {});
}

/** The group that somebody chose; else the smallest stream without congestion control, which suffers
 * from the others' queue; else "", all packets. */
export function whoOf(reading: Reading, link: Bottleneck, chosen: string | null): string {
  if (chosen !== null && (chosen === "" || groupNames(reading).includes(chosen))) return chosen;
  const small = link.streams
    .map(({ group, rate_bps, count }) => ({ group, rate: rate_bps * count }))
    .filter(({ rate }) => rate <= SMALL * link.rate_bps)
    .sort((a, b) => a.rate - b.rate);
  return small[0]?.group ?? "";
}
