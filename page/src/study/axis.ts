/** What a study varies: the key of a queue that decides how many packets wait. */

import { inlineToml, setKey } from "../scenario/text";

export interface Axis {
  /** Kind of the queue that takes the place of the scenario's; null for the scenario's own. */
  kind: string | null;
  key: "limit" | "target";
  unit: "packets" | "us";
}

export const LIMIT: Axis = { kind: null, key: "limit", unit: "packets" };

/** Returns the scenario with a value of the axis: whole packets, or whole microseconds. */
export function withValue(text: string, link: string, axis: Axis, value: number): string {
  const quantity = `${value} ${axis.unit}`;
  const path = ["links", link, "queue"];
  return axis.kind === null
    ? setKey(text, [...path, axis.key], JSON.stringify(quantity))
    : setKey(text, path, inlineToml({ kind: axis.kind, [axis.key]: quantity }));
}
