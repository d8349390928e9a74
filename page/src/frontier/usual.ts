/** The usual values of the disciplines' parameters, which are the engine's defaults. */

import type { Component } from "../engine/engine";
import { secondsOf } from "../scenario/quantities";

const US = 1e6;
/** CoDel's interval stands for that of a discipline without one: it is to exceed the round trips of nearly
 * all flows (RFC 8289 sec. 4.3). */
const STANDARD = "codel";

/** The default of a parameter in microseconds; null if it is no time. */
export type Usual = (kind: string, name: string) => number | null;

export function usualOf(queues: Component[]): Usual {
  return (kind, name) => {
    const parameters = queues.find((one) => one.kind === kind)?.parameters ?? [];
    const text = parameters.find((one) => one.name === name)?.default;
    return typeof text === "string" ? Math.round(US * secondsOf(text)) : null;
  };
}

/** The longest round trip for which a discipline with its usual parameters is made, in seconds. */
export function madeForS(usual: Usual, kind: string): number {
  return (usual(kind, "interval") ?? usual(STANDARD, "interval") ?? Infinity) / US;
}
