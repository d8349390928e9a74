/** What is wrong, in sight above everything else. */

import { find, make } from "./dom";

/** What can be wrong at the same time: the newest of each kind is shown. */
export type Trouble = "address" | "engine" | "scenario";

const shown = new Map<Trouble, HTMLElement>();

/** Shows a trouble until it is over, or until somebody closes it. */
export function notice(trouble: Trouble, text: string): void {
  over(trouble);
  const close = make("button", { type: "button", click: () => over(trouble) }, "Close");
  const line = make("p", {}, text, " ", close);
  shown.set(trouble, line);
  find("notice").append(line);
}

export function over(trouble: Trouble): void {
  shown.get(trouble)?.remove();
  shown.delete(trouble);
}
