/** A worker with an engine: runs slices of a few milliseconds, and answers messages between them. */

import init, * as wasm from "#wasm/tailroom_web.js";
import type {
  Answer,
  Components,
  Delays,
  ModelInput,
  Question,
  Resolved,
  Series,
  Span,
  Watched,
} from "./engine";
import type { Reply, Request } from "./messages";

const SLICE_MS = 15;
const FIRST_PICTURE_MS = 60;
const PICTURE_MS = 100;
/** Share of the time that may go into series of a run in progress. */
const SERIES_SHARE = 0.25;

const cancelled = new Set<number>();
const current: { run: number | null; files: wasm.Files | null } = { run: null, files: null };

function reply(message: Reply): void {
  self.postMessage(message);
}

/** Lets messages in. `setTimeout` would wait at least 4 ms. */
const channel = new MessageChannel();
function breathe(): Promise<void> {
  return new Promise((go) => {
    channel.port1.onmessage = () => go();
    channel.port2.postMessage(null);
  });
}

type Asked = [text: string, set: string, seed: bigint | undefined, files: wasm.Files];

function asked(question: Question): Asked {
  if (!current.files) throw new Error("the engine is not started");
  return [question.text, JSON.stringify(question.set), question.seed ?? undefined, current.files];
}

async function run(id: number, question: Question, progress: boolean): Promise<void> {
  const start = performance.now();
  const run = new wasm.Run(...asked(question));
  let spent = false;
  try {
    let next = start + FIRST_PICTURE_MS;
    for (;;) {
      const fraction = run.advance(SLICE_MS);
      if (fraction >= 1) break;
      await breathe();
      if (cancelled.has(id)) {
        reply({ kind: "cancelled", id });
        return;
      }
      const now = performance.now();
      if (!progress || now < next) continue;
      const text = run.series();
      const series = text === undefined ? null : (JSON.parse(text) as Series);
      const delays = series && (JSON.parse(run.delays()) as Delays);
      const seconds = run.seconds();
      reply({ kind: "progress", id, progress: { fraction, seconds, series, delays } });
      const cost = performance.now() - now;
      next = performance.now() + Math.max(PICTURE_MS, cost / SERIES_SHARE);
    }
    spent = true;
    const answer = JSON.parse(run.finish()) as Omit<Answer, "wallMs">;
    const value = { ...answer, wallMs: performance.now() - start };
    reply({ kind: "done", id, value });
  } finally {
    cancelled.delete(id);
    current.run = null;
    if (!spent) run.free();
  }
}

async function watch(id: number, question: Question, span: Span): Promise<void> {
  const packets = new wasm.Packets(...asked(question), span.link, span.beginS, span.toS);
  try {
    while (packets.advance(SLICE_MS) < 1) {
      await breathe();
      if (!cancelled.has(id)) continue;
      reply({ kind: "cancelled", id });
      return;
    }
    packets.sort();
    const value = {
      ...(JSON.parse(packets.about()) as Pick<Watched, "from_s" | "to_s" | "names" | "series">),
      present: packets.present(),
      presentMarks: packets.present_marks(),
      times: packets.times(),
      events: packets.events(),
      flows: packets.flows(),
    };
    reply({ kind: "done", id, value });
  } finally {
    cancelled.delete(id);
    current.run = null;
    packets.free();
  }
}

async function answer(request: Request): Promise<void> {
  switch (request.kind) {
    case "start": {
      await init({ module_or_path: request.module });
      current.files = new wasm.Files(request.files);
      const components = JSON.parse(wasm.components()) as Components;
      reply({ kind: "started", started: { build: wasm.build(), components } });
      return;
    }
    case "cancel":
      // A run that has ended meanwhile has answered already.
      if (current.run === request.id) cancelled.add(request.id);
      return;
    case "run":
      current.run = request.id;
      await run(request.id, request.question, request.progress);
      return;
    case "watch":
      current.run = request.id;
      await watch(request.id, request.question, request.span);
      return;
    case "resolve": {
      const value = JSON.parse(wasm.resolve(...asked(request.question))) as Resolved;
      reply({ kind: "done", id: request.id, value });
      return;
    }
    case "modelInput": {
      const value = JSON.parse(wasm.model_input(...asked(request.question))) as ModelInput;
      reply({ kind: "done", id: request.id, value });
      return;
    }
  }
}

self.onmessage = (event: MessageEvent<Request>) => {
  const request = event.data;
  answer(request).catch((error: unknown) => {
    if (request.kind === "start" || request.kind === "cancel") throw error;
    const fault = typeof error === "string" ? error : null;
    const message = error instanceof Error ? error.message : String(error);
    reply({ kind: "failed", id: request.id, fault, message });
  });
};
