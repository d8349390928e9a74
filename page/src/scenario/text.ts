/** Changes of a scenario's text that keep everything else in it, comments included. */

import { parse, TomlError } from "smol-toml";
import { here } from "../engine/here";

export type Table = { [key: string]: unknown };

/** The text is not TOML that the page can change in place. */
export class TextError extends Error {}

/** Parses a text; null if it is not TOML. Integers above 2^53 are BigInts. */
export function parseToml(text: string): Table | null {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (error instanceof TomlError) return null;
    throw error;
  }
}

/** Returns the value at a path of nested tables; undefined if there is none. */
export function valueAt(table: unknown, path: string[]): unknown {
  let at = table;
  for (const part of path) {
    if (typeof at !== "object" || at === null) return undefined;
    at = (at as Table)[part];
  }
  return at;
}

function keyText(part: string): string {
  return /^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part);
}

/** A value as TOML on one line. */
export function inlineToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inlineToml).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(
      ([key, part]) => `${keyText(key)} = ${inlineToml(part)}`,
    );
    return `{ ${pairs.join(", ")} }`;
  }
  if (typeof value === "string") return JSON.stringify(value);
  // Numbers, booleans and dates write themselves.
  return String(value);
}

export function pathText(path: string[]): string {
  return path.map(keyText).join(".");
}

/** Replaces the value of a key, or adds the key to the table in which it belongs.
 *
 * @param value - The value as TOML.
 * @throws TextError if the text is not TOML.
 */
export function setKey(text: string, path: string[], value: string): string {
  return changed(() => here().set_key(text, path, value));
}

/** Removes a key, or a table with everything below it; returns the text itself without such a key.
 *
 * @throws TextError if the text is not TOML.
 */
export function removeKey(text: string, path: string[]): string {
  return changed(() => here().remove_key(text, path));
}

function changed(change: () => string): string {
  try {
    return change();
  } catch (error) {
    if (typeof error === "string") throw new TextError(error);
    throw error;
  }
}
