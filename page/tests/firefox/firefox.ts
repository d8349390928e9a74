/** Firefox by WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/), which it speaks itself: playwright's
 * needs a build of its own. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const POLL_MS = 100;
/** Positions of the pointer between the ends of a drag. */
const DRAG_STEPS = 8;
/** Time between two of them. */
const DRAG_MS = 30;

interface Message {
  id?: number | null;
  type: "success" | "error" | "event";
  result?: unknown;
  message?: string;
  params?: { level: string; text: string | null };
}

/** A point of the window in CSS pixels. */
export type Place = [x: number, y: number];

/** One window of a browser that was started for it. */
export class Firefox {
  /** Errors that the page threw or wrote to its console. */
  readonly complaints: string[] = [];
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (message: Message) => void>();
  #asked = 0;
  #context = "";

  private constructor(process: ChildProcess, profile: string, socket: WebSocket) {
    this.#process = process;
    this.#profile = profile;
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) =>
      this.#hear(JSON.parse(String(data)) as Message),
    );
  }

  /** Starts the program with a new profile and opens a window. */
  static async start(program: string): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), "firefox-"));
    const options = ["--headless", "--no-remote", "--profile", profile];
    const process = spawn(program, [...options, "--remote-debugging-port", "0"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const socket = new WebSocket(`${await addressOf(process)}/session`);
    await new Promise<void>((open, fail) => {
      socket.addEventListener("open", () => open());
      socket.addEventListener("error", () => fail(new Error("Firefox refuses the connection")));
    });
    const firefox = new Firefox(process, profile, socket);
    await firefox.#command("session.new", { capabilities: {} });
    await firefox.#command("session.subscribe", { events: ["log.entryAdded"] });
    const made = await firefox.#command("browsingContext.create", { type: "window" });
    firefox.#context = (made as { context: string }).context;
    return firefox;
  }

  async open(address: string, width: number, height: number): Promise<void> {
    const context = this.#context;
    await this.#command("browsingContext.setViewport", { context, viewport: { width, height } });
    await this.#command("browsingContext.navigate", { context, url: address, wait: "complete" });
  }

  /** The value of an expression in the page, which JSON must be able to hold. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const answer = (await this.#command("script.evaluate", {
      expression: `(async () => JSON.stringify((await (${expression})) ?? null))()`,
      target: { context: this.#context },
      awaitPromise: true,
      userActivation: true,
    })) as { result?: { value: string }; exceptionDetails?: { text: string } };
    if (!answer.result) throw new Error(`${expression}: ${answer.exceptionDetails?.text ?? "?"}`);
    return JSON.parse(answer.result.value) as Value;
  }

  /** Waits until an expression in the page has another value than null, and returns it. */
  async until<Value>(expression: string): Promise<Value> {
    for (;;) {
      const value = await this.evaluate<Value | null>(expression);
      if (value !== null) return value;
      await new Promise((wait) => setTimeout(wait, POLL_MS));
    }
  }

  /** Presses the pointer at a place, moves it to another one and releases it there. */
  async drag([x, y]: Place, [toX, toY]: Place): Promise<void> {
    const moves = Array.from({ length: DRAG_STEPS }, (_, step) => {
      const part = (step + 1) / DRAG_STEPS;
      const at = { x: Math.round(x + part * (toX - x)), y: Math.round(y + part * (toY - y)) };
      return { type: "pointerMove", ...at, duration: DRAG_MS };
    });
    const actions = [
      { type: "pointerMove", x: Math.round(x), y: Math.round(y) },
      { type: "pointerDown", button: 0 },
      ...moves,
      { type: "pointerUp", button: 0 },
    ];
    await this.#command("input.performActions", {
      context: this.#context,
      actions: [{ type: "pointer", id: "mouse", actions }],
    });
  }

  /** The window as PNG, in base64. */
  async picture(): Promise<string> {
    const context = this.#context;
    const taken = await this.#command("browsingContext.captureScreenshot", { context });
    return (taken as { data: string }).data;
  }

  /** Ends the program and deletes its profile. */
  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill();
    await ended;
    rmSync(this.#profile, { recursive: true, force: true });
  }

  async #command(method: string, params: object): Promise<unknown> {
    const id = ++this.#asked;
    const answer = new Promise<Message>((hear) => this.#answers.set(id, hear));
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { type, result, message } = await answer;
    if (type === "error") throw new Error(`${method}: ${message ?? "failed"}`);
    return result;
  }

  #hear(message: Message): void {
    const { id, params } = message;
    if (id !== null && id !== undefined) {
      this.#answers.get(id)?.(message);
      this.#answers.delete(id);
    } else if (params?.level === "error") this.complaints.push(params.text ?? "?");
  }
}

/** Where Firefox listens, which it writes to its standard error. */
function addressOf(process: ChildProcess): Promise<string> {
  const { stderr } = process;
  if (!stderr) throw new Error("Firefox has no standard error");
  return new Promise((found, failed) => {
    createInterface({ input: stderr }).on("line", (line) => {
      const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? [];
      if (address !== undefined) found(address);
    });
    process.once("error", failed);
    process.once("exit", () => failed(new Error("Firefox ended before it could be reached")));
  });
}
