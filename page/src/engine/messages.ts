/** What the page and its workers say to each other. */

import type {
  Answer,
  Components,
  ModelInput,
  Progress,
  Question,
  Resolved,
  Span,
  Watched,
} from "./engine";

/** What is asked of an engine. */
export type Asked =
  | { kind: "resolve" | "modelInput" | "run"; question: Question }
  | { kind: "watch"; question: Question; span: Span };

export type Request =
  /** `files`: texts by path, as JSON. */
  | { kind: "start"; module: WebAssembly.Module; files: string }
  | (Asked & { id: number; progress: boolean })
  | { kind: "cancel"; id: number };

export type Value = Resolved | ModelInput | Answer | Watched;

export interface Started {
  build: string;
  components: Components;
}

export type Reply =
  | { kind: "started"; started: Started }
  | { kind: "progress"; id: number; progress: Progress }
  | { kind: "done"; id: number; value: Value }
  /** `fault`: the engine's report as JSON; null if the engine itself broke. */
  | { kind: "failed"; id: number; fault: string | null; message: string }
  | { kind: "cancelled"; id: number };
