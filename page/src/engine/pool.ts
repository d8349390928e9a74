/** The engine: one worker per core, and one more for questions that take no run. */

import init, * as wasm from "#wasm/tailroom_web.js";
import address from "#wasm/tailroom_web_bg.wasm?url";
import {
  aborted,
  faultOf,
  RunFault,
  type Answer,
  type Components,
  type ModelInput,
  type Question,
  type Resolved,
  type RunOptions,
  type Span,
  type Watched,
} from "./engine";
import { begin } from "./here";
import type { Asked, Reply, Request, Started, Value } from "./messages";
import { Slots } from "./slots";

/** A worker that has not ended its slice after this time is replaced. */
const PATIENCE_MS = 150;
/** Longest time for a question that takes no run. */
const QUICK_MS = 30_000;

interface Job {
  onProgress: RunOptions["onProgress"];
  done: (value: Value) => void;
  fail: (error: unknown) => void;
}

/** A worker that is replaced when its engine broke or does not answer. */
class Seat {
  readonly #module: WebAssembly.Module;
  readonly #files: string;
  #worker: Worker;
  #ready: Promise<Started>;
  #jobs = new Map<number, Job>();
  #next = 0;

  constructor(module: WebAssembly.Module, files: string) {
    this.#module = module;
    this.#files = files;
    [this.#worker, this.#ready] = this.#hire();
  }

  get ready(): Promise<Started> {
    return this.#ready;
  }

  async ask(
    request: Asked,
    signal: AbortSignal | null,
    onProgress: RunOptions["onProgress"],
  ): Promise<Value> {
    await this.#ready;
    if (signal?.aborted) throw aborted();
    const id = this.#next++;
    return new Promise<Value>((done, fail) => {
      this.#jobs.set(id, { onProgress, done, fail });
      this.#send({ ...request, id, progress: onProgress !== undefined });
      signal?.addEventListener("abort", () => this.#cancel(id), { once: true });
    });
  }

  /** Ends every job and begins with a fresh engine. */
  replace(error: Error): void {
    this.#worker.terminate();
    const jobs = [...this.#jobs.values()];
    this.#jobs = new Map();
    [this.#worker, this.#ready] = this.#hire();
    for (const job of jobs) job.fail(error);
  }

  #cancel(id: number): void {
    if (!this.#jobs.has(id)) return;
    this.#send({ kind: "cancel", id });
    setTimeout(() => {
      if (this.#jobs.has(id)) this.replace(aborted());
    }, PATIENCE_MS);
  }

  #send(request: Request): void {
    this.#worker.postMessage(request);
  }

  #hire(): [Worker, Promise<Started>] {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    const ready = new Promise<Started>((begin, fail) => {
      worker.onmessage = (event: MessageEvent<Reply>) => {
        if (event.data.kind === "started") begin(event.data.started);
        else this.#hear(event.data);
      };
      worker.onerror = (event) => {
        const fault = new RunFault(event.message || "The worker with the engine did not start");
        fail(fault);
        for (const job of this.#jobs.values()) job.fail(fault);
        this.#jobs.clear();
      };
    });
    ready.catch(() => undefined);
    worker.postMessage({
      kind: "start",
      module: this.#module,
      files: this.#files,
    } satisfies Request);
    return [worker, ready];
  }

  #hear(reply: Exclude<Reply, { kind: "started" }>): void {
    const job = this.#jobs.get(reply.id);
    if (!job) return;
    if (reply.kind === "progress") {
      job.onProgress?.(reply.progress);
      return;
    }
    this.#jobs.delete(reply.id);
    if (reply.kind === "done") job.done(reply.value);
    else if (reply.kind === "cancelled") job.fail(aborted());
    else if (reply.fault !== null) job.fail(faultOf(reply.fault));
    else {
      job.fail(new RunFault(brokenText(reply.message)));
      this.replace(new RunFault("The engine was started again"));
    }
  }
}

function brokenText(message: string): string {
  return (
    `The engine stopped: ${message}. The memory of a browser is limited to 4 GB; ` +
    "use fewer flows or a shorter duration, or `tailroom run`."
  );
}

export class Engine {
  /** Version, and a hash of the sources that the engine was built from. */
  readonly build: string;
  readonly components: Components;
  /** Number of runs at the same time. */
  readonly workers: number;
  readonly #desk: Seat;
  readonly #seats: Slots<Seat>;

  constructor(started: Started, desk: Seat, seats: Seat[]) {
    this.build = started.build;
    this.components = started.components;
    this.workers = seats.length;
    this.#desk = desk;
    this.#seats = new Slots(seats);
  }

  async resolve(question: Question): Promise<Resolved> {
    return (await this.#quick("resolve", question)) as Resolved;
  }

  async modelInput(question: Question): Promise<ModelInput> {
    return (await this.#quick("modelInput", question)) as ModelInput;
  }

  async run(question: Question, options: RunOptions): Promise<Answer> {
    const { priority, signal, onProgress } = options;
    return this.#seats.use(priority, signal, async (seat) => {
      return (await seat.ask({ kind: "run", question }, signal, onProgress)) as Answer;
    });
  }

  /** Runs up to the end of a span, and returns its packets. */
  async watch(
    question: Question,
    span: Span,
    priority: number,
    signal: AbortSignal,
  ): Promise<Watched> {
    return this.#seats.use(priority, signal, async (seat) => {
      return (await seat.ask({ kind: "watch", question, span }, signal, undefined)) as Watched;
    });
  }

  async #quick(kind: "resolve" | "modelInput", question: Question): Promise<Value> {
    const slow = setTimeout(() => {
      this.#desk.replace(new RunFault("The engine needs too long to read this scenario"));
    }, QUICK_MS);
    try {
      return await this.#desk.ask({ kind, question }, null, undefined);
    } finally {
      clearTimeout(slow);
    }
  }
}

async function compile(): Promise<WebAssembly.Module> {
  const response = await fetch(address);
  if (!response.ok) throw new RunFault(`The engine could not be loaded (${response.status})`);
  // Not compileStreaming: some static hosts send another content type than application/wasm.
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Starts the engine.
 *
 * @param files - Texts of the files that scenarios may name, by their path.
 * @param workers - Largest number of runs at a time; null for the number of cores.
 */
export async function startEngine(
  files: Record<string, string>,
  workers: number | null,
): Promise<Engine> {
  const module = await compile();
  await init({ module_or_path: module });
  begin(wasm);
  const texts = JSON.stringify(files);
  const desk = new Seat(module, texts);
  const started = await desk.ready;
  const length = workers ?? (navigator.hardwareConcurrency || 2);
  const seats = Array.from({ length }, () => new Seat(module, texts));
  return new Engine(started, desk, seats);
}
