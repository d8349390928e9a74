/** Parts of the page in another page: "#embed=PART,PART", and behind "&" the state of an address. */

import { find, make } from "../dom";
import { quoted } from "../quoting";
import type { Store } from "../state";
import { addressOf } from "./address";

/** What can be embedded, and where it is in the page. A map: an address may name what an object inherits. */
const PARTS = new Map([
  ["verdict", "#verdict"],
  ["slider", "#slider"],
  ["numbers", "#live > :is(.numbers, .warnings)"],
  ["queue", "figure:has(#picture-queue)"],
  ["windows", "figure:has(#picture-windows)"],
  ["delay", "figure:has(#picture-delay)"],
  ["utilization", "figure:has(#picture-utilization)"],
  ["memory", "figure:has(#picture-memory)"],
  ["groups", "#groups"],
  ["links", "#links"],
  ["path", "#path"],
  ["packets", "#packets"],
  ["frontier", "#frontier"],
  ["trade-off", "#trade-off"],
]);

const MARK = "#embed=";

export interface Embedded {
  parts: string[];
  /** The state, as an address without parts holds it; "" without one. */
  fragment: string;
}

/** The parts that an address asks for; null if it asks for the whole page. */
export function embeddedOf(hash: string): Embedded | null {
  if (!hash.startsWith(MARK)) return null;
  const [parts = "", state = ""] = hash.slice(MARK.length).split("&");
  return { parts: [...new Set(parts.split(","))], fragment: state && `#${state}` };
}

/** What is wrong with the parts of an address; empty if nothing is. */
export function embedProblem({ parts }: Embedded): string {
  const unknown = parts.filter((part) => !PARTS.has(part));
  if (unknown.length === 0) return "";
  return `The page has no part ${quoted(unknown.join(", "))}; its parts are ${[...PARTS.keys()].join(", ")}.`;
}

/** Leaves out all but the parts, and links to the whole page. */
export function showOnly({ parts }: Embedded, store: Store): void {
  document.body.classList.add("embedded");
  const wanted = parts.flatMap((part) => {
    const selector = PARTS.get(part);
    return selector ? [...document.querySelectorAll(selector)] : [];
  });
  leaveOut(find("main"), wanted);
  const link = make("a", { target: "_blank", rel: "noopener" }, "Open in tailroom");
  const lead = async (): Promise<void> => {
    link.href = await addressOf(store.state);
  };
  document.body.append(make("p", { class: "source" }, link));
  store.subscribe(() => void lead());
  void lead();
}

function leaveOut(element: Element, wanted: Element[]): void {
  for (const child of element.children) {
    if (wanted.includes(child)) continue;
    if (wanted.some((one) => child.contains(one))) leaveOut(child, wanted);
    else child.classList.add("left-out");
  }
}
