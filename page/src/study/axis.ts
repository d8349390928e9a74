/** What a study varies: the key of a queue that decides how many packets wait. */

import { setKeyOfLink } from "../scenario/place";
import { inlineToml } from "../scenario/text";

export interface Axis {
  /** Kind of the queue that takes the place of the scenario's; null for the scenario's own. */
  kind: string | null;
  key: "limit" | "target";
  unit: "packets" | "us";
}

export const LIMIT: Axis = { kind: null, key: "limit", unit: "packets" };

/** Returns the scenario with a value of the axis: whole packets, or whole microseconds.
 *
 * @param queue - Path of the queue.
 */
export function withValue(text: string, queue: string[], axis: Axis, value: number): string {
  const quantity = `${value} ${axis.unit}`;
  return axis.kind === null
    ? setKeyOfLink(text, [...queue, axis.key], JSON.stringify(quantity))
    : setKeyOfLink(text, queue, inlineToml({ kind: axis.kind, [axis.key]: quantity }));
}
