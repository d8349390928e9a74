import { afterEach, expect, test, vi } from "vitest";
import { RunFault, ScenarioFault, type Components, type Engine } from "../src/engine/engine";
import { findLocalEngine } from "../src/engine/local";

const COMPONENTS: Components = {
  congestion: [{ kind: "reno", doc: "", parameters: [] }],
  queue: [],
  source: [],
};
const ANNOUNCED = { build: "1", workers: 8, file: null, controls: ["own.py:Mine"] };
const QUESTION = { text: "x = 1", set: {}, seed: null };
const OPTIONS = { signal: new AbortController().signal, priority: 0 };

afterEach(() => vi.unstubAllGlobals());

/** Replaces the network: an answer by the end of the address. */
function network(answers: Record<string, () => Response>): RequestInit[] {
  const requests: RequestInit[] = [];
  vi.stubGlobal("fetch", (address: string, request: RequestInit = {}) => {
    requests.push(request);
    const answer = answers[address];
    return answer ? Promise.resolve(answer()) : Promise.reject(new TypeError("no network"));
  });
  return requests;
}

async function localEngine(answers: Record<string, () => Response>): Promise<Engine> {
  network({ "api/engine": () => Response.json(ANNOUNCED), ...answers });
  const engine = await findLocalEngine(() => Promise.resolve(COMPONENTS));
  if (!engine) throw new Error("no engine");
  return engine;
}

/** A body that arrives in pieces that end anywhere. */
function inPieces(text: string): Response {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
      controller.close();
    },
  });
  return new Response(body);
}

test("a static host has no local engine", async () => {
  for (const answer of [
    () => new Response("", { status: 404 }),
    () => new Response("<!doctype html>"),
  ]) {
    network({ "api/engine": answer });
    expect(await findLocalEngine(() => Promise.resolve(COMPONENTS))).toBeNull();
  }
  network({});
  expect(await findLocalEngine(() => Promise.resolve(COMPONENTS))).toBeNull();
});

test("the local engine offers the file's own controls, and every request has the header", async () => {
  const requests = network({ "api/engine": () => Response.json(ANNOUNCED) });
  const engine = await findLocalEngine(() => Promise.resolve(COMPONENTS));
  expect(engine?.components.congestion.map(({ kind }) => kind)).toEqual(["reno", "own.py:Mine"]);
  expect(requests[0]?.headers).toMatchObject({ "X-Tailroom": "1" });
});

test("a run tells its progress and ends with the answer", async () => {
  const lines = [
    { progress: { fraction: 0.5, seconds: 1, series: null } },
    { answer: { summary: { seed: 1 }, scenario: "ü", hash: "h", series: null, wall_ms: 3 } },
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const engine = await localEngine({ "api/run": () => inPieces(text) });
  const fractions: number[] = [];
  const answer = await engine.run(QUESTION, {
    ...OPTIONS,
    onProgress: ({ fraction }) => fractions.push(fraction),
  });
  expect(fractions).toEqual([0.5]);
  expect(answer).toMatchObject({ hash: "h", scenario: "ü", wallMs: 3 });
});

test("faults of the local engine are those of the engine in the browser", async () => {
  const problem = { line: 1, key: "x", problem: "p", remedy: "r" };
  const wrong = { kind: "scenario", problems: [problem] };
  const engine = await localEngine({
    "api/resolve": () => Response.json(wrong, { status: 422 }),
    "api/run": () => inPieces(`${JSON.stringify({ error: { kind: "run", message: "memory" } })}\n`),
  });
  await expect(engine.resolve(QUESTION)).rejects.toBeInstanceOf(ScenarioFault);
  await expect(engine.run(QUESTION, OPTIONS)).rejects.toEqual(new RunFault("memory"));
  await expect(engine.modelInput(QUESTION)).rejects.toThrow("still running");
});

test("a run whose connection ends early is a fault", async () => {
  const engine = await localEngine({
    "api/run": () => inPieces('{"progress": {"fraction": 0}}\n'),
  });
  await expect(engine.run(QUESTION, OPTIONS)).rejects.toBeInstanceOf(RunFault);
});
