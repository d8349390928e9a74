/** Where the links of a scenario stand: one behind the other, and side by side at a node. */

import type { Reading } from "../scenario/reading";
import { nodesOf, placeOf, type Nodes } from "../scenario/place";
import { valueAt, type Table } from "../scenario/text";

/** Links side by side: those of a switch, or of a pool. */
export interface Node {
  /** Empty for links that have nothing in common. */
  name: string;
  links: string[];
}

/** The nodes that are equally far from the senders. */
export interface Stage {
  /** Empty for links that are not of a switch or a fabric. */
  name: string;
  nodes: Node[];
}

/** The stages of a switch, of a fabric, or of the links outside of both. */
export type Row = Stage[];

/** The rows of a scenario's links that carry data packets. */
export function rowsOf({
  scenario,
  input: { crossed },
}: Pick<Reading, "scenario" | "input">): Row[] {
  const ranks = ranksOf(pathsOf(scenario), crossed);
  const rows = new Map<string, Map<number, Stage>>();
  for (const link of crossed) {
    const nodes = nodesOf(scenario, link);
    const row = entry(rows, nodes?.table.join(".") ?? "", () => new Map<number, Stage>());
    const rank = nodes ? rankBetween(nodes) : (ranks.get(link) ?? 0);
    const stage = entry(row, rank, () => ({ name: nodes ? stageName(nodes) : "", nodes: [] }));
    const name = nodeName(scenario, link, nodes);
    const node = stage.nodes.find((one) => one.name === name);
    if (node) node.links.push(link);
    else stage.nodes.push({ name, links: [link] });
  }
  return [...rows.values()].map((row) =>
    [...row].sort(([a], [b]) => a - b).map(([, stage]) => stage),
  );
}

/** The groups whose packets cross a link that is not of a switch or a fabric. */
export function groupsAcross(scenario: Table, link: string): string[] {
  const groups = Object.entries((scenario["flows"] ?? {}) as Table);
  return groups.filter(([, group]) => pathOf(group).includes(link)).map(([name]) => name);
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, made: () => Value): Value {
  const value = map.get(key) ?? made();
  map.set(key, value);
  return value;
}

function pathOf(group: unknown): string[] {
  const path = valueAt(group, ["path"]);
  return Array.isArray(path) ? path.map(String) : [];
}

function pathsOf(scenario: Table): string[][] {
  return Object.values((scenario["flows"] ?? {}) as Table).map(pathOf);
}

/** How many links are before each link at most; where paths form a circle, fewer than all links. */
function ranksOf(paths: string[][], links: string[]): Map<string, number> {
  const ranks = new Map<string, number>();
  const rank = (link: string | undefined): number => ranks.get(link ?? "") ?? 0;
  let isSettled = false;
  for (let round = 0; round < links.length && !isSettled; round++) {
    isSettled = true;
    for (const path of paths) {
      for (let at = 1; at < path.length; at++) {
        const least = rank(path[at - 1]) + 1;
        if (least <= rank(path[at]) || least >= links.length) continue;
        ranks.set(path[at] ?? "", least);
        isSettled = false;
      }
    }
  }
  return ranks;
}

/** From a host up to a spine, or to what is above a switch, and down to a host. */
function rankBetween({ from, to }: Nodes): number {
  if (from.startsWith("h")) return 0;
  if (to.startsWith("h")) return 3;
  return /^(uplink|spine)/.test(from) ? 2 : 1;
}

function stageName(nodes: Nodes): string {
  const down = nodes.from.startsWith("spine") ? "Ports of spines" : "From outside";
  return ["Interfaces of hosts", "Uplinks", down, "Ports to hosts"][rankBetween(nodes)] ?? "";
}

/** The switch that has the links, or the pool. */
function nodeName(scenario: Table, link: string, nodes: Nodes | null): string {
  const { pool } = placeOf(scenario, link);
  const size = pool && valueAt(scenario, [...pool, "size"]);
  const memory = typeof size === "string" ? `, sharing ${size}` : "";
  if (!nodes) return pool ? `pool ${pool.at(-1) ?? ""}${memory}` : "";
  const { table, from, to } = nodes;
  const isElsewhere = from.startsWith("h") || from.startsWith("uplink");
  const node = isElsewhere ? to : from;
  return `${node === "switch" ? table[1] : node}${memory}`;
}
