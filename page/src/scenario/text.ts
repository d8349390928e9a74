/** Changes of a scenario's text that keep everything else in it, comments included. */

import { parse, TomlError } from "smol-toml";
import { findPlaces, isSame, isUnder, PlaceError, type Header, type Place } from "./toml_places";

export type Table = { [key: string]: unknown };

/** Parses a text; null if it is not TOML. */
export function parseToml(text: string): Table | null {
  try {
    return parse(text);
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

export function keyText(part: string): string {
  return /^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part);
}

export function pathText(path: string[]): string {
  return path.map(keyText).join(".");
}

function replaced(text: string, from: number, to: number, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}

/** Replaces the value of a key, or adds the key to the table in which it belongs.
 *
 * A value that is a word, such as `queue = "codel"`, becomes `{ kind = "codel", ... }` if a key
 * below it is set.
 *
 * @param value - The value as TOML.
 * @throws PlaceError if the text is not TOML.
 */
export function setKey(text: string, path: string[], value: string): string {
  const { values, headers } = findPlaces(text);
  const same = values.find((place) => isSame(place.path, path));
  if (same) return replaced(text, same.valueFrom, same.valueTo, value);
  const isTable =
    headers.some((header) => isUnder(header.path, path)) ||
    values.some((place) => isUnder(place.path, path));
  if (isTable) return setKey(removeKey(text, path), path, value);
  const above = values.findLast(
    (place) => place.path.length < path.length && isUnder(path, place.path),
  );
  if (above) return intoValue(text, above, path.slice(above.path.length), value);
  return intoTable(text, values, headers, path, value);
}

/** Adds a key below a key whose value is an inline table or a word. */
function intoValue(text: string, above: Place, rest: string[], value: string): string {
  const old = text.slice(above.valueFrom, above.valueTo);
  const pair = `${pathText(rest)} = ${value}`;
  let table: string;
  if (old.startsWith("{")) {
    const inside = old.slice(1, -1).replace(/,?\s*$/, "");
    table = inside.trim() ? `{${inside}, ${pair} }` : `{ ${pair} }`;
  } else {
    table = `{ kind = ${old}, ${pair} }`;
  }
  return replaced(text, above.valueFrom, above.valueTo, table);
}

/** Adds a key to the table with the longest path above it, or behind everything with a new header. */
function intoTable(
  text: string,
  values: Place[],
  headers: Header[],
  path: string[],
  value: string,
): string {
  const above = headers.filter(
    (header) => header.path.length < path.length && isUnder(path, header.path),
  );
  const table = above.reduce((best, other) =>
    other.path.length > best.path.length ? other : best,
  );
  const depth = table.path.length;
  const rest = path.slice(depth);
  const start = path.slice(0, depth + 1);
  const isDotted = values.some((place) => place.table === table && isUnder(place.path, start));
  const hasHeader = headers.some((header) => isUnder(header.path, start));
  if (rest.length === 1 || isDotted || (depth > 0 && !hasHeader)) {
    return lineInto(text, table, `${pathText(rest)} = ${value}`);
  }
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  const [name, key] = [pathText(path.slice(0, -1)), keyText(path.at(-1) ?? "")];
  return `${text}${gap}\n[${name}]\n${key} = ${value}\n`;
}

function lineInto(text: string, table: Header, line: string): string {
  if (table.path.length === 0 && table.end === 0) return `${line}\n${text}`;
  const end = text.indexOf("\n", table.end);
  if (end < 0) return `${text}\n${line}\n`;
  return replaced(text, end + 1, end + 1, `${line}\n`);
}

/** Removes a key, or a table with everything below it; returns the text itself without such a key.
 *
 * @throws PlaceError if the text is not TOML.
 */
export function removeKey(text: string, path: string[]): string {
  const { values, headers } = findPlaces(text);
  const table = headers.findLast((header) => isUnder(header.path, path));
  if (table && path.length > 0) {
    const next = headers[headers.indexOf(table) + 1];
    return removeKey(replaced(text, table.from, next ? next.from : text.length, ""), path);
  }
  const place = values.findLast((value) => isUnder(value.path, path));
  if (!place) return text;
  return removeKey(place.inline ? withoutInline(text, place) : withoutLine(text, place), path);
}

function withoutLine(text: string, place: Place): string {
  const from = text.lastIndexOf("\n", place.from - 1) + 1;
  const end = text.indexOf("\n", place.valueTo);
  return replaced(text, from, end < 0 ? text.length : end + 1, "");
}

function withoutInline(text: string, place: Place): string {
  const behind = /^\s*,\s*/.exec(text.slice(place.valueTo));
  if (behind) return replaced(text, place.from, place.valueTo + behind[0].length, "");
  const before = /,?\s*$/.exec(text.slice(0, place.from));
  const from = place.from - (before?.[0].length ?? 0);
  return replaced(text, from, place.valueTo, "");
}

/** The line on which a key stands, counted from 1; null if the text does not name the key. */
export function lineOf(text: string, path: string[]): number | null {
  try {
    const place = findPlaces(text).values.find((value) => isSame(value.path, path));
    return place ? text.slice(0, place.from).split("\n").length : null;
  } catch (error) {
    if (error instanceof PlaceError) return null;
    throw error;
  }
}
