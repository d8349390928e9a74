import { expect, test } from "vitest";
import {
  aborted,
  faultOf,
  isAbort,
  RunFault,
  ScenarioFault,
  type Answer,
  type Question,
  type RunOptions,
} from "../src/engine/engine";
import type { Engine } from "../src/engine/pool";
import { Slots } from "../src/engine/slots";
import { Live } from "../src/see/live";

const OPEN = new AbortController().signal;

test("jobs of a higher priority go first, and equal ones in order", async () => {
  const slots = new Slots(["only"]);
  const order: string[] = [];
  const job = (name: string, priority: number): Promise<void> =>
    slots.use(priority, OPEN, async () => {
      order.push(name);
      await Promise.resolve();
    });
  await Promise.all([job("first", 0), job("low", 0), job("high", 5), job("low too", 0)]);
  expect(order).toEqual(["first", "high", "low", "low too"]);
});

test("a job that is cancelled while it waits never begins, and a failed job frees its slot", async () => {
  const slots = new Slots([1]);
  const abort = new AbortController();
  const failing = slots.use(0, OPEN, () => Promise.reject(new Error("broken")));
  const waiting = slots.use(0, abort.signal, () => Promise.resolve("never"));
  abort.abort();
  await expect(failing).rejects.toThrow("broken");
  await expect(waiting).rejects.toSatisfy(isAbort);
  expect(await slots.use(0, OPEN, () => Promise.resolve("next"))).toBe("next");
});

test("reports of the engine become faults", () => {
  const problem = { line: 3, key: "links.a.rate", problem: "is wrong", remedy: "write it" };
  const fault = faultOf(JSON.stringify({ kind: "scenario", problems: [problem] }));
  expect(fault).toBeInstanceOf(ScenarioFault);
  expect(fault.message).toBe("line 3, links.a.rate: is wrong; write it");
  expect(faultOf('{"kind": "run", "message": "memory"}')).toEqual(new RunFault("memory"));
  expect(faultOf("not JSON").message).toBe("not JSON");
});

/** An engine whose runs end when the test says so. */
class SlowEngine {
  readonly asked: string[] = [];
  readonly cancelled: string[] = [];
  #end: (() => void) | undefined;

  run(question: Question, { signal }: RunOptions): Promise<Answer> {
    this.asked.push(question.text);
    return new Promise((done, fail) => {
      this.#end = () => done({} as Answer);
      signal.addEventListener("abort", () => {
        this.cancelled.push(question.text);
        fail(aborted());
      });
    });
  }

  end(): void {
    this.#end?.();
  }
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

test("of the questions of a moving slider the last one is answered, and old runs are cancelled", async () => {
  const engine = new SlowEngine();
  let answers = 0;
  const live = new Live(engine as unknown as Engine, {
    onProgress: () => undefined,
    onAnswer: () => answers++,
    onFault: (error) => {
      throw error;
    },
  });
  for (const text of ["a", "b", "c"]) live.ask({ text, set: {}, seed: null });
  expect(engine.asked).toEqual(["a"]);
  await sleep(150);
  expect(engine.cancelled).toEqual(["a"]);
  expect(engine.asked).toEqual(["a", "c"]);
  expect(live.busy).toBe(true);
  engine.end();
  await sleep(10);
  expect(answers).toBe(1);
  expect(live.busy).toBe(false);
});
