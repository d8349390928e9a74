/** Undo and redo: each settled change is an entry in the browser's history, with its state. */

import { make } from "../dom";
import type { State, Store } from "../state";
import { addressOf } from "./address";

/** A state that has not changed for this time is settled. */
const SETTLED_MS = 400;

interface Entry {
  /** Place of the entry among those of the page. */
  at: number;
  state: State;
}

function entryOf(value: unknown): Entry | null {
  const entry = value as Partial<Entry> | null;
  return typeof entry?.at === "number" && entry.state ? (entry as Entry) : null;
}

/** The state of a page that is loaded again, where an address cannot hold it. */
export function stateOfReload(): State | null {
  const entry = entryOf(window.history.state);
  return entry && entry.at > 0 && window.location.hash === "" ? entry.state : null;
}

export class History {
  readonly #store: Store;
  readonly #read: () => Promise<State | null>;
  readonly #undo = button("Undo", () => this.#go(-1));
  readonly #redo = button("Redo", () => this.#go(1));
  /** The state of the present entry. */
  #state: State;
  #at: number;
  #last: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param read - Reads the state of an address that somebody wrote into the browser. */
  constructor(host: HTMLElement, store: Store, read: () => Promise<State | null>) {
    this.#store = store;
    this.#read = read;
    this.#state = store.state;
    this.#at = this.#last = entryOf(window.history.state)?.at ?? 0;
    host.append(this.#undo, this.#redo);
    // The address stays: a page that nobody has changed shows what the server has opened.
    this.#write("replaceState", window.location.href);
    window.addEventListener("popstate", (event) => void this.#arrive(entryOf(event.state)));
    document.addEventListener("keydown", (event) => this.#onKey(event));
    store.subscribe(() => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#settle(), SETTLED_MS);
    });
  }

  /** Adds the state of the page to the history, unless it is the present entry. */
  async #settle(): Promise<void> {
    clearTimeout(this.#timer);
    const { state } = this.#store;
    if (JSON.stringify(state) === JSON.stringify(this.#state)) return;
    this.#state = state;
    this.#last = ++this.#at;
    this.#write("pushState", await addressOf(state));
  }

  #write(how: "pushState" | "replaceState", address: string): void {
    window.history[how]({ at: this.#at, state: this.#state } satisfies Entry, "", address);
    this.#show();
  }

  /** Takes the state of an entry to which somebody went; null for an address without one. */
  async #arrive(entry: Entry | null): Promise<void> {
    clearTimeout(this.#timer);
    if (entry) [this.#at, this.#state] = [entry.at, entry.state];
    else {
      this.#state = (await this.#read()) ?? this.#state;
      this.#last = ++this.#at;
      this.#write("replaceState", window.location.href);
    }
    this.#show();
    this.#store.change(this.#state);
  }

  async #go(by: -1 | 1): Promise<void> {
    await this.#settle();
    window.history.go(by);
  }

  /** Text fields undo what was typed into them. */
  #onKey(event: KeyboardEvent): void {
    const { target, ctrlKey, metaKey, shiftKey, key } = event;
    const types =
      target instanceof HTMLTextAreaElement ||
      (target instanceof HTMLInputElement && target.type === "text");
    if (types || !(ctrlKey || metaKey)) return;
    const letter = key.toLowerCase();
    const isRedo = letter === "y" || (letter === "z" && shiftKey);
    const wanted = isRedo ? this.#redo : letter === "z" ? this.#undo : null;
    if (!wanted || wanted.disabled) return;
    event.preventDefault();
    wanted.click();
  }

  #show(): void {
    this.#undo.disabled = this.#at === 0;
    this.#redo.disabled = this.#at >= this.#last;
  }
}

function button(label: string, click: () => Promise<void>): HTMLButtonElement {
  return make("button", { type: "button", click: () => void click() }, label);
}
