/** Starts the page: its engine, the scenario of the address, and the copy for offline use. */

import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import { find } from "./dom";
import { readOpened, type OpenedScenario } from "./engine/page_scenario";
import { shortBuild } from "./engine/engine";
import { startEngine, type Engine } from "./engine/pool";
import { decodeState } from "./keep/address";
import { embeddedOf, embedProblem, showOnly, type Embedded } from "./keep/embed";
import { History, stateOfReload } from "./keep/history";
import { notice, over } from "./notice";
import { Page } from "./page";
import { PRESETS } from "./scenario/presets";
import { NO_TARGETS, Store, type State } from "./state";
import { StoryView } from "./stories/story_view";
import { storyOf } from "./stories/story";
import { addThemeSwitch, followEmbeddingPage } from "./style/theme_switch";

const DAMAGED =
  "This address is damaged: it holds no scenario that the page can read. The end may be missing; " +
  "copy the whole address. What stands below is another scenario.";

async function start(): Promise<void> {
  followEmbeddingPage();
  const opened = await readOpened();
  const scenario = opened?.scenario ?? null;
  const engine = await startEngine(scenario?.files ?? {}, opened?.workers ?? null);
  find("engine").textContent = engineText(engine);
  window.addEventListener("hashchange", ({ oldURL, newURL }) => {
    const [before, now] = [oldURL, newURL].map((address) => kindOf(new URL(address).hash));
    if (before !== now || now === "embed") window.location.reload();
  });
  const { hash } = window.location;
  const embedded = embeddedOf(hash);
  if (storyOf(hash)) tellStories(engine);
  else if (embedded) await embed(engine, embedded, scenario);
  else await explore(engine, scenario);
  if (opened === null || opened.copy) keepForOffline();
}

/** What an address shows; from one kind to another the page is loaded anew. */
function kindOf(hash: string): "story" | "embed" | "explorer" {
  if (storyOf(hash)) return "story";
  return embeddedOf(hash) ? "embed" : "explorer";
}

function tellStories(engine: Engine): void {
  document.body.classList.add("telling");
  const view = new StoryView(find("story"), engine);
  addThemeSwitch(find("theme"), () => view.restyle());
  view.show();
}

async function embed(
  engine: Engine,
  embedded: Embedded,
  scenario: OpenedScenario | null,
): Promise<void> {
  const store = new Store((await stateOf(embedded.fragment)) ?? firstState(scenario));
  const problem = embedProblem(embedded);
  if (problem) notice("address", problem);
  const page = new Page(engine, store, scenario);
  showOnly(embedded, store);
  await page.start();
}

async function explore(engine: Engine, scenario: OpenedScenario | null): Promise<void> {
  let address: string;
  let state: State | null;
  // The history hears of an address that changes from now on, but not while one is read.
  do {
    address = window.location.hash;
    state = await stateOfAddress();
  } while (address !== window.location.hash);
  const store = new Store(state ?? stateOfReload() ?? firstState(scenario));
  new History(find("history"), store, stateOfAddress);
  await new Page(engine, store, scenario).start();
}

function stateOfAddress(): Promise<State | null> {
  return stateOf(window.location.hash);
}

/** The state that an address holds; null without one, or with one that cannot be read. */
async function stateOf(hash: string): Promise<State | null> {
  if (kindOf(hash) !== "explorer") return null;
  const state = await decodeState(hash);
  const isPlace = hash.length < 2 || document.getElementById(hash.slice(1)) !== null;
  if (state || isPlace) over("address");
  else notice("address", DAMAGED);
  return state;
}

function firstState(scenario: OpenedScenario | null): State {
  const text = scenario?.text ?? PRESETS[0]?.text ?? "";
  return { text, link: null, who: null, targets: NO_TARGETS, kept: [] };
}

function engineText(engine: Engine): string {
  const runs = engine.workers === 1 ? "one run" : `${engine.workers} runs`;
  return `Engine ${shortBuild(engine.build)} in this browser, ${runs} at a time`;
}

/** A service worker keeps the files. Not those that `tailroom explore` serves: another program may use its port. */
function keepForOffline(): void {
  if (!("serviceWorker" in navigator) || import.meta.env.DEV) return;
  navigator.serviceWorker.register("service-worker.js").catch(() => {
    // Files from a disk, or a browser that forbids it: the page works while it is open.
  });
}

start().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  find("engine").textContent = "No engine";
  notice("engine", `The engine did not start, so nothing can be simulated: ${message}`);
});
