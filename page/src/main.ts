/** Starts the page: its engine, the scenario of the address, and the copy for offline use. */

import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import { announce, find } from "./dom";
import { readOpened, type OpenedScenario } from "./engine/page_scenario";
import { startEngine, type Engine } from "./engine/pool";
import { decodeState } from "./keep/address";
import { Page } from "./page";
import { PRESETS } from "./scenario/presets";
import { NO_TARGETS, Store, type State } from "./state";

async function start(): Promise<void> {
  const opened = await readOpened();
  const scenario = opened?.scenario ?? null;
  const engine = await startEngine(scenario?.files ?? {}, opened?.workers ?? null);
  find("engine").textContent = engineText(engine);
  const store = new Store((await decodeState(window.location.hash)) ?? firstState(scenario));
  window.addEventListener("hashchange", () => {
    void decodeState(window.location.hash).then((state) => {
      if (state) store.change(state);
      else announce("The address holds no scenario that this page can read");
    });
  });
  await new Page(engine, store, scenario).start();
  if (opened === null) keepForOffline();
}

function firstState(scenario: OpenedScenario | null): State {
  const text = scenario?.text ?? PRESETS[0]?.text ?? "";
  return { text, link: null, targets: NO_TARGETS, kept: [] };
}

function engineText(engine: Engine): string {
  const runs = engine.workers === 1 ? "one run" : `${engine.workers} runs`;
  return `Engine ${engine.build.replace(/(\+.{8}).*/, "$1")} in this browser, ${runs} at a time`;
}

/** A service worker keeps the files. Not of `tailroom explore`: another program may use its port. */
function keepForOffline(): void {
  if (!("serviceWorker" in navigator) || import.meta.env.DEV) return;
  navigator.serviceWorker.register("service-worker.js").catch(() => {
    // Files from a disk, or a browser that forbids it: the page works while it is open.
  });
}

start().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  find("engine").textContent = `The engine did not start: ${message}`;
  announce("The engine did not start");
});
