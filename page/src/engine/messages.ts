/** What the page and its workers say to each other. */

import type { Answer, Components, ModelInput, Progress, Question, Resolved } from "./engine";

export type Request =
  /** `files`: texts by path, as JSON. */
  | { kind: "start"; module: WebAssembly.Module; files: string }
  | { kind: "resolve"; id: number; question: Question }
  | { kind: "modelInput"; id: number; question: Question }
  | { kind: "run"; id: number; question: Question; progress: boolean }
  | { kind: "cancel"; id: number };

export interface Started {
  build: string;
  components: Components;
}

export type Reply =
  | { kind: "started"; started: Started }
  | { kind: "progress"; id: number; progress: Progress }
  | { kind: "done"; id: number; value: Resolved | ModelInput | Answer }
  /** `fault`: the engine's report as JSON; null if the engine itself broke. */
  | { kind: "failed"; id: number; fault: string | null; message: string }
  | { kind: "cancelled"; id: number };
