/** The address holds everything that the page shows: its state, compressed, behind the #. */

import {
  LARGEST_TARGETS,
  LONGEST_NAME,
  MOST_KEPT,
  NO_TARGETS,
  type Kept,
  type LinkTarget,
  type State,
  type Targets,
} from "../state";
import { isGroupTarget } from "../study/point";

/** Version of the format, before the compressed state. */
const MARK = "1.";
/** Bounds of a state: an address may be anybody's, and a browser shows longer texts in minutes. */
const MOST_CHARACTERS = 200_000;
const MOST_BYTES = 200_000;
const MOST_LINES = 5_000;
const MOST_GROUP_TARGETS = 40;

async function pump(
  bytes: Uint8Array<ArrayBuffer>,
  through: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(through).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.byteLength;
    if (size > MOST_BYTES) {
      await reader.cancel();
      throw new Error("the state is too large");
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function toBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Returns the part of the address behind the #; null if the state is too large for an address. */
export async function encodeState(state: State): Promise<string | null> {
  const { text, link, who, targets, kept } = state;
  const json = JSON.stringify({ text, link, who, targets, kept });
  const bytes = new TextEncoder().encode(json);
  if (bytes.length > MOST_BYTES || ![text, ...kept.map((one) => one.text)].every(isShort)) {
    return null;
  }
  return MARK + toBase64Url(await pump(bytes, new CompressionStream("deflate-raw")));
}

/** The page's address with a state; without it if the state is too large. */
export async function addressOf(state: State): Promise<string> {
  const [page = ""] = window.location.href.split("#");
  const code = await encodeState(state);
  return code === null ? page : `${page}#${code}`;
}

/** Reads the part of an address behind the #; null if it does not hold a state. */
export async function decodeState(fragment: string): Promise<State | null> {
  const code = fragment.replace(/^#/, "");
  if (!code.startsWith(MARK) || code.length > MOST_CHARACTERS) return null;
  try {
    const bytes = fromBase64Url(code.slice(MARK.length));
    const json = new TextDecoder().decode(
      await pump(bytes, new DecompressionStream("deflate-raw")),
    );
    return stateOf(JSON.parse(json));
  } catch {
    return null;
  }
}

function isShort(text: unknown): text is string {
  return typeof text === "string" && text.split(/\r\n?|\n/).length <= MOST_LINES;
}

/** Takes from a value what is a state; everything else in it is left. */
function stateOf(value: unknown): State | null {
  if (typeof value !== "object" || value === null) return null;
  const { text, link, who, targets, kept } = value as Record<string, unknown>;
  if (!isShort(text)) return null;
  const list = Array.isArray(kept) ? kept.slice(0, MOST_KEPT) : [];
  return {
    text,
    link: typeof link === "string" ? link : null,
    who: typeof who === "string" ? who : null,
    targets: targetsOf(targets),
    kept: list.map(keptOf).filter((one) => one !== null),
  };
}

function targetsOf(value: unknown): Targets {
  if (typeof value !== "object" || value === null) return NO_TARGETS;
  const given = value as Record<string, unknown>;
  const bound = (key: LinkTarget): number | null => {
    const one = given[key];
    const isNumber = typeof one === "number" && Number.isFinite(one);
    return isNumber && one >= 0 && one <= LARGEST_TARGETS[key] ? one : null;
  };
  return {
    utilization: bound("utilization"),
    delayS: bound("delayS"),
    loss: bound("loss"),
    groups: groupTargetsOf(given["groups"]),
  };
}

function groupTargetsOf(value: unknown): Targets["groups"] {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const bounds = entries.filter(
    (entry): entry is [string, number] =>
      isGroupTarget(entry[0]) && typeof entry[1] === "number" && entry[1] >= 0,
  );
  return Object.fromEntries(bounds.slice(0, MOST_GROUP_TARGETS));
}

function keptOf(value: unknown): Kept | null {
  if (typeof value !== "object" || value === null) return null;
  const { name, text, link } = value as Record<string, unknown>;
  if (typeof name !== "string" || !isShort(text)) return null;
  return { name: name.slice(0, LONGEST_NAME), text, link: typeof link === "string" ? link : null };
}
