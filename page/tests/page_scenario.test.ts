import { afterEach, expect, test, vi } from "vitest";
import { readOpened } from "../src/engine/page_scenario";

afterEach(() => vi.unstubAllGlobals());

function answering(answer: () => Promise<Response>): void {
  vi.stubGlobal("fetch", answer);
}

test("a page is opened with what the command hands over", async () => {
  const handed = { workers: 3, scenario: { name: "a.toml", text: "x = 1", files: { f: "1" } } };
  answering(() => Promise.resolve(Response.json(handed)));
  expect(await readOpened()).toEqual(handed);
});

test("a static copy of the page is opened with nothing", async () => {
  for (const body of ["null", "<!doctype html>"]) {
    answering(() => Promise.resolve(new Response(body)));
    expect(await readOpened()).toBeNull();
  }
  answering(() => Promise.resolve(new Response("", { status: 404 })));
  expect(await readOpened()).toBeNull();
  answering(() => Promise.reject(new TypeError("no network")));
  expect(await readOpened()).toBeNull();
});
