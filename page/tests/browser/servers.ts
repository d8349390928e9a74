/** What serves the page in tests: a static host, and `tailroom explore`. */

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize, resolve } from "node:path";
import { createInterface } from "node:readline";

const REPOSITORY = resolve(import.meta.dirname, "../../..");
export const BUILT = resolve(REPOSITORY, "python/tailroom/explore/page");
const TAILROOM = resolve(REPOSITORY, ".venv/bin/tailroom");
const PYTHON = resolve(REPOSITORY, ".venv/bin/python");
const RUNS = `
import json, sys
import tailroom as tr
from tailroom.scenario.scenario import Scenario
for line in sys.stdin:
    text, seed = json.loads(line)
    print(json.dumps(tr.run(Scenario.from_toml(text), seed=seed).summary))
`;
const ELSEWHERE = `
import json, sys
from tailroom.export.other_tools import equivalents
from tailroom.models.bottleneck import read_bottleneck
from tailroom.scenario.scenario import Scenario
for line in sys.stdin:
    text, link = json.loads(line)
    tools = equivalents(read_bottleneck(Scenario.from_toml(text), link))
    print(json.dumps([
        [one.heading, one.text, *one.notes, *(f"left out: {left}" for left in one.left_out_words)]
        for one in sorted(tools, key=lambda one: not one.has_lines)
    ]))
`;
const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

export interface Served {
  address: string;
  stop: () => void;
}

/** Serves the built page, or a copy, as the simplest static host does: no headers, wasm without its type. */
export async function serveStatic(directory = BUILT): Promise<Served> {
  if (!existsSync(join(BUILT, "index.html"))) throw new Error("make page builds the page first");
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://host").pathname);
    const file = join(directory, path.endsWith("/") ? `${path}index.html` : path);
    if (!file.startsWith(directory) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `http://127.0.0.1:${port}/`, stop };
}

/** Starts `tailroom explore FILE` on a free port. */
export async function serveExplore(file: string): Promise<Served> {
  const options = ["explore", file, "--port", "0"];
  const command: ChildProcess = spawn(TAILROOM, options, { stdio: ["ignore", "pipe", "inherit"] });
  const { stdout } = command;
  if (!stdout) throw new Error("tailroom explore has no output");
  const line = await new Promise<string>((said, failed) => {
    createInterface({ input: stdout }).once("line", said);
    command.once("exit", () => failed(new Error("tailroom explore ended")));
  });
  return { address: line.split(" ")[0] ?? "", stop: () => command.kill("SIGINT") };
}

/** The directory that `tailroom explore FILE --out` writes. */
export function writeCopy(file: string, directory: string): string {
  const done = spawnSync(TAILROOM, ["explore", file, "--out", directory], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stderr);
  return directory;
}

export interface Summary {
  warnings: { text: string }[];
  scenario_hash: string;
  groups: Record<string, { queue_delay_s_p99: number | null }>;
  links: Record<string, { utilization: number; loss_fraction: number; queue_packets_mean: number }>;
}

/** The JSON that a command prints, with a scenario on standard input. */
export function commandLine(options: string[], scenario: string): unknown {
  const done = spawnSync(TAILROOM, options, { input: scenario, encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stderr);
  return JSON.parse(done.stdout);
}

/** The summary that the command line prints for a scenario on standard input, or in a file. */
export function commandLineSummary(scenario: string, file = "-"): Summary {
  return commandLine(["run", file, "--json"], scenario) as Summary;
}

/** What a program in Python answers, a line of JSON for each question. */
function answersOf(program: string, questions: unknown[]): unknown[] {
  const input = questions.map((question) => `${JSON.stringify(question)}\n`).join("");
  const done = spawnSync(PYTHON, ["-c", program], { input, encoding: "utf8", maxBuffer: 2 ** 28 });
  if (done.status !== 0) throw new Error(done.stderr);
  return done.stdout
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}

/** The summaries that `tailroom run --json` prints, of hundreds of runs in one process. */
export function summaries(runs: [text: string, seed: number][]): unknown[] {
  return answersOf(RUNS, runs);
}

/** The lines for other tools that `tailroom size` prints for a link: heading, lines, and what follows them;
 * tools without lines come last. */
export function linesElsewhere(
  text: string,
  link: string,
): [heading: string, lines: string, ...remarks: string[]][] {
  return answersOf(ELSEWHERE, [[text, link]])[0] as [string, string, ...string[]][];
}
