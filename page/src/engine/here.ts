/** The engine in the page's own thread, for answers that take no run. */

import type * as wasm from "#wasm/tailroom_web.js";

export type Here = Pick<
  typeof wasm,
  | "advice"
  | "equivalents"
  | "estimate_buffer"
  | "limit_text"
  | "read_limit"
  | "read_measurement"
  | "remove_key"
  | "set_key"
  | "size_search_step"
  | "student_quantile"
>;

const started: { engine: Here | null } = { engine: null };

/** Hands the engine over, once it is loaded. */
export function begin(engine: Here): void {
  started.engine = engine;
}

export function here(): Here {
  if (!started.engine) throw new Error("the engine is not started");
  return started.engine;
}
