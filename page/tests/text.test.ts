import { readdirSync, readFileSync } from "node:fs";
import { parse } from "smol-toml";
import { expect, test } from "vitest";
import { removeKey, setKey, valueAt } from "../src/scenario/text";
import { findPlaces, PlaceError } from "../src/scenario/toml_places";

const SCENARIOS = new URL("../../python/tailroom/scenarios/", import.meta.url);
const FILES = readdirSync(SCENARIOS, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".toml"),
);

function scenario(name: string): string {
  return readFileSync(new URL(name, SCENARIOS), "utf8");
}

test.each(FILES)("every value of %s stands where the parser finds it", (name) => {
  const text = scenario(name);
  const table = parse(text);
  for (const place of findPlaces(text).values) {
    const alone = parse(`x = ${text.slice(place.valueFrom, place.valueTo)}`)["x"];
    expect(valueAt(table, place.path)).toEqual(alone);
  }
});

test.each(FILES)("changing the queue's limit in %s changes nothing else", (name) => {
  const text = scenario(name);
  const table = parse(text) as Record<string, unknown>;
  const [link] = Object.keys(table["links"] ?? {});
  if (link === undefined) return;
  const changed = setKey(text, ["links", link, "queue", "limit"], '"7 packets"');
  const after = parse(changed) as Record<string, unknown>;
  expect(valueAt(after, ["links", link, "queue", "limit"])).toBe("7 packets");
  expect(after["flows"]).toEqual(table["flows"]);
  expect(changed.match(/#.*/g)).toEqual(text.match(/#.*/g));
});

test("a value keeps the comment behind it", () => {
  const text = 'rate = "1 Mbit/s"   # slow\n';
  expect(setKey(text, ["rate"], '"2 Mbit/s"')).toBe('rate = "2 Mbit/s"   # slow\n');
});

test("a key goes into the inline table above it", () => {
  const text = '[links.a]\nqueue = { kind = "codel" } # c\n';
  expect(setKey(text, ["links", "a", "queue", "limit"], '"9 packets"')).toBe(
    '[links.a]\nqueue = { kind = "codel", limit = "9 packets" } # c\n',
  );
});

test("a word becomes a table if a key below it is set", () => {
  const text = '[links.a]\nqueue = "codel"\n';
  expect(setKey(text, ["links", "a", "queue", "limit"], '"9 packets"')).toBe(
    '[links.a]\nqueue = { kind = "codel", limit = "9 packets" }\n',
  );
});

test("a key goes to the end of its table", () => {
  const text = '[flows.a]\npath = ["l"]\n\n[flows.b]\npath = ["l"]\n';
  expect(setKey(text, ["flows", "a", "count"], "3")).toBe(
    '[flows.a]\npath = ["l"]\ncount = 3\n\n[flows.b]\npath = ["l"]\n',
  );
});

test("a key without a table gets a table", () => {
  expect(setKey('title = "t"\n', ["series", "interval"], '"1 s"')).toBe(
    'title = "t"\n\n[series]\ninterval = "1 s"\n',
  );
});

test("a key of the root goes before the tables", () => {
  expect(setKey("[links.a]\nx = 1\n", ["seed"], "2")).toBe("seed = 2\n[links.a]\nx = 1\n");
});

test("a value replaces a table with a header", () => {
  const text =
    '[flows.a]\nx = 1\n\n[flows.a.congestion]\nkind = "reno"\nabe = true\n\n[series]\ny = 2\n';
  const changed = setKey(text, ["flows", "a", "congestion"], '"cubic"');
  expect(parse(changed)).toEqual({
    flows: { a: { x: 1, congestion: "cubic" } },
    series: { y: 2 },
  });
});

test("a key in a table whose neighbours have headers gets a header of its own", () => {
  const text = '[flows.web]\nx = 1\n[flows.web.source.size]\nkind = "k"\n';
  const changed = setKey(text, ["flows", "web", "source", "load"], "0.5");
  expect(parse(changed)).toEqual({
    flows: { web: { x: 1, source: { load: 0.5, size: { kind: "k" } } } },
  });
});

test("a removed key leaves no comma behind", () => {
  expect(removeKey("a = { b = 1, c = 2 }\n", ["a", "b"])).toBe("a = { c = 2 }\n");
  expect(parse(removeKey("a = { b = 1, c = 2 }\n", ["a", "c"]))).toEqual({ a: { b: 1 } });
  expect(removeKey("x = 1\n[series]\ny = 2\n[z]\nw = 3\n", ["series"])).toBe("x = 1\n[z]\nw = 3\n");
});

test("texts, quotes and comments do not mislead", () => {
  const text = 'a = \'it # is\' # not\nb = """x = 1\n[c]"""\n"d.e" = 2\n';
  expect(parse(setKey(text, ["d.e"], "3"))).toEqual({ a: "it # is", b: "x = 1\n[c]", "d.e": 3 });
});

test("a text that is not TOML cannot be changed", () => {
  expect(() => setKey("a = \n", ["a"], "1")).toThrow(PlaceError);
  expect(() => setKey("[x\n", ["a"], "1")).toThrow(PlaceError);
});
