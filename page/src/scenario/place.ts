/** Where a scenario writes the queue of a link, and which memory the queue shares. */

import { parseToml, setKey, valueAt, type Table } from "./text";

export interface Place {
  /** The table with the keys of the link: its own, or that of its switch or fabric. */
  table: string[];
  /** Keys of that table. */
  rate: string;
  delay: string;
  queue: string;
  /** Which queues these keys describe, in words. */
  words: string;
  /** Whether the link is the interface of a host. */
  isInterface: boolean;
  /** The memory that the queue shares with others; null if it has its own. */
  pool: string[] | null;
}

/** Names of the links of a switch or a fabric, behind its own name: from one node to another. */
const FROM_TO =
  /^-(h\d+|switch|leaf\d+|uplink\d+|spine\d+)-(h\d+|switch|leaf\d+|uplink\d+|spine\d+)$/;

/** A link of a switch or a fabric: its table, and the nodes between which it is. */
export interface Nodes {
  table: [kind: string, name: string];
  from: string;
  to: string;
}

/** The nodes of a link; null if it is a link of its own. */
export function nodesOf(scenario: Table, link: string): Nodes | null {
  for (const kind of ["switches", "fabrics"]) {
    for (const name of Object.keys(scenario[kind] ?? {})) {
      const [, from, to] = (link.startsWith(name) && FROM_TO.exec(link.slice(name.length))) || [];
      if (from && to) return { table: [kind, name], from, to };
    }
  }
  return null;
}

/** Finds a link of a scenario. */
export function placeOf(scenario: Table, link: string): Place {
  const nodes = nodesOf(scenario, link);
  if (nodes) return shared(scenario, nodes);
  const table = ["links", link];
  const pool = valueAt(scenario, [...table, "pool"]);
  return {
    table,
    rate: "rate",
    delay: "delay",
    queue: "queue",
    words: link,
    isInterface: false,
    pool: typeof pool === "string" ? ["pools", pool] : null,
  };
}

/** The keys of a switch or a fabric that a link between two of its nodes shares with others. */
function shared(scenario: Table, { table, from, to }: Nodes): Place {
  const has = (key: string): boolean => valueAt(scenario, [...table, key]) !== undefined;
  const [kind, name] = table;
  const isInterface = from.startsWith("h");
  const isUplink = !isInterface && !to.startsWith("h");
  const node = kind === "switches" ? "switch" : "fabric";
  return {
    table,
    rate: isUplink && has("uplink_rate") ? "uplink_rate" : "rate",
    delay: isUplink && has("uplink_delay") ? "uplink_delay" : "delay",
    queue: isInterface ? "nic_queue" : "queue",
    words: `every ${isInterface ? "host's interface" : "port"} of ${node} ${name}`,
    isInterface,
    // The far ends of uplinks and the interfaces of hosts have their queues to themselves.
    pool: !isInterface && !from.startsWith("uplink") && has("pool") ? [...table, "pool"] : null,
  };
}

/** The path of a key of the queue. */
export function queueKey({ table, queue }: Place, ...key: string[]): string[] {
  return [...table, queue, ...key];
}

/** Whether a text leaves the limit of a queue to the memory that it shares. */
export function isLimitedByPool(text: string, place: Place): boolean {
  return place.pool !== null && valueAt(parseToml(text), queueKey(place, "limit")) === undefined;
}

/** Hosts that have one FIFO at their interface, and sources that need no host. */
const FIFO_HOSTS: unknown[] = ["plain", "ns2"];
const WITHOUT_HOST: unknown[] = ["poisson", "cbr", "on_off"];

/** The kind of the queue of a switch's interfaces where the text has none, as the engine chooses it. */
function interfaceKind(scenario: Table, name: string): string {
  const isOfToday = (group: string): boolean => {
    const written = (...key: string[]): unknown =>
      valueAt(scenario, ["flows", group, ...key]) ?? valueAt(scenario, ["defaults", ...key]);
    const from = [written("from")].flat();
    const source = written("source", "kind") ?? written("source");
    const sendsHere = from.some((node) => String(node).split(".")[0] === name);
    return sendsHere && !WITHOUT_HOST.includes(source) && !FIFO_HOSTS.includes(written("host"));
  };
  return Object.keys(scenario["flows"] ?? {}).some(isOfToday) ? "fair" : "drop_tail";
}

/** Replaces the value of a key; the queue of interfaces, which has a default, is written out before a
 * part of it changes.
 *
 * @param value - The value as TOML.
 * @throws TextError if the text is not TOML.
 */
export function setKeyOfLink(text: string, path: string[], value: string): string {
  const queue = path.slice(0, path.indexOf("nic_queue") + 1);
  const isPart = queue.length > 0 && queue.length < path.length;
  const scenario = parseToml(text);
  const isLeftOut = isPart && valueAt(scenario, queue) === undefined;
  const kind = isLeftOut ? interfaceKind(scenario ?? {}, queue[1] ?? "") : "";
  return setKey(isLeftOut ? setKey(text, queue, `{ kind = "${kind}" }`) : text, path, value);
}
