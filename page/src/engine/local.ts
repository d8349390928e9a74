/** The engine of `tailroom explore`: native, behind a server on the same machine. */

import {
  faultOf,
  isAbort,
  RunFault,
  type Answer,
  type Components,
  type Engine,
  type LocalFile,
  type ModelInput,
  type Progress,
  type Question,
  type Resolved,
  type RunOptions,
} from "./engine";
import { Slots } from "./slots";

/** Browsers open at most six connections to a server; one stays free for quick questions. */
const MOST_RUNS = 5;
const HEADERS = { "X-Tailroom": "1" };

interface Announcement {
  build: string;
  workers: number;
  file: LocalFile | null;
  controls: string[];
  components?: Components;
}

type Line =
  | { progress: Progress }
  | { answer: Omit<Answer, "wallMs"> & { wall_ms: number } }
  | { error: unknown };

class LocalEngine implements Engine {
  readonly kind = "local";
  readonly build: string;
  readonly workers: number;
  readonly file: LocalFile | null;
  readonly components: Components;
  readonly #connections: Slots<number>;

  constructor(said: Announcement, components: Components) {
    this.build = said.build;
    this.workers = Math.max(1, Math.min(said.workers, MOST_RUNS));
    this.file = said.file;
    this.components = withControls(components, said.controls);
    this.#connections = new Slots(Array.from({ length: this.workers }, (_, place) => place));
  }

  async resolve(question: Question): Promise<Resolved> {
    return (await this.#json("api/resolve", question)) as Resolved;
  }

  async modelInput(question: Question): Promise<ModelInput> {
    return (await this.#json("api/model_input", question)) as ModelInput;
  }

  run(question: Question, options: RunOptions): Promise<Answer> {
    const { priority, signal, onProgress } = options;
    return this.#connections.use(priority, signal, async () => {
      const response = await post("api/run", question, signal);
      if (!response.ok) throw faultOf(await response.text());
      let answer: Answer | null = null;
      // To the end, also behind the answer: a stream that is left counts as a failed request.
      for await (const line of linesOf(response)) {
        const said = JSON.parse(line) as Line;
        if ("progress" in said) onProgress?.(said.progress);
        else if ("error" in said) throw faultOf(JSON.stringify(said.error));
        else answer = { ...said.answer, wallMs: said.answer.wall_ms };
      }
      if (answer) return answer;
      throw new RunFault("The local engine ended the run without an answer");
    });
  }

  async #json(path: string, question: Question): Promise<unknown> {
    const response = await post(path, question, null);
    if (!response.ok) throw faultOf(await response.text());
    return response.json();
  }
}

/** The controls in Python that `tailroom explore FILE` offers, beside those of the engine. */
function withControls(components: Components, names: string[]): Components {
  const known = new Set(components.congestion.map((control) => control.kind));
  const added = names
    .filter((name) => !known.has(name))
    .map((kind) => ({ kind, doc: "A control in Python.", parameters: [] }));
  return { ...components, congestion: [...components.congestion, ...added] };
}

async function post(
  path: string,
  question: Question,
  signal: AbortSignal | null,
): Promise<Response> {
  try {
    return await fetch(path, {
      method: "POST",
      headers: { ...HEADERS, "Content-Type": "application/json" },
      body: JSON.stringify(question),
      signal,
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new RunFault("The local engine does not answer; is `tailroom explore` still running?");
  }
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      yield* lines.filter(Boolean);
    }
    if (rest) yield rest;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Returns the local engine, or null if the page does not come from `tailroom explore`. */
export async function findLocalEngine(
  components: () => Promise<Components>,
): Promise<Engine | null> {
  try {
    const response = await fetch("api/engine", { headers: HEADERS });
    if (!response.ok) return null;
    const said = (await response.json()) as Announcement;
    return new LocalEngine(said, said.components ?? (await components()));
  } catch {
    return null;
  }
}
