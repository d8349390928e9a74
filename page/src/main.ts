/** Starts the page: finds an engine, reads the address, and keeps the page for offline use. */

import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import { announce, find } from "./dom";
import { browserComponents, startBrowserEngine } from "./engine/browser";
import type { Engine } from "./engine/engine";
import { findLocalEngine } from "./engine/local";
import { decodeState } from "./keep/address";
import { Page } from "./page";
import { PRESETS } from "./scenario/presets";
import { NO_TARGETS, Store, type State } from "./state";

async function start(): Promise<void> {
  const engine = (await findLocalEngine(browserComponents)) ?? (await startBrowserEngine());
  find("engine").textContent = engineText(engine);
  const store = new Store((await decodeState(window.location.hash)) ?? firstState(engine));
  window.addEventListener("hashchange", () => {
    void decodeState(window.location.hash).then((state) => {
      if (state) store.change(state);
      else announce("The address holds no scenario that this page can read");
    });
  });
  await new Page(engine, store).start();
  if (engine.kind === "browser") keepForOffline();
}

function firstState(engine: Engine): State {
  const text = engine.file?.text ?? PRESETS[0]?.text ?? "";
  return { text, link: null, targets: NO_TARGETS, kept: [] };
}

function engineText(engine: Engine): string {
  const place = engine.kind === "local" ? "on this computer" : "in this browser";
  const runs = engine.workers === 1 ? "one run" : `${engine.workers} runs`;
  return `Engine ${engine.build.replace(/(\+.{8}).*/, "$1")} ${place}, ${runs} at a time`;
}

/** A service worker keeps the files. Not with the local engine: without it the page is of no use. */
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
