/** What the page asks the engine, and what the engine answers. */

export interface Question {
  /** The scenario, as TOML. */
  text: string;
  /** Values that replace those of the scenario: dotted key to TOML value, as `--set`. */
  set: Record<string, string>;
  /** Seed of the random streams; null for the seed of the scenario. */
  seed: bigint | null;
}

export interface Problem {
  line: number | null;
  key: string;
  problem: string;
  remedy: string;
}

/** The scenario is wrong. */
export class ScenarioFault extends Error {
  readonly problems: Problem[];
  constructor(problems: Problem[]) {
    super(problems.map(problemText).join("\n"));
    this.problems = problems;
  }
}

/** The run failed: memory, time, or the engine itself. */
export class RunFault extends Error {}

export function problemText(problem: Problem): string {
  const place = [problem.line === null ? "" : `line ${problem.line}`, problem.key];
  const remedy = problem.remedy ? `; ${problem.remedy}` : "";
  const where = place.filter(Boolean).join(", ");
  return `${where ? `${where}: ` : ""}${problem.problem}${remedy}`;
}

export interface Resolved {
  /** The scenario with every default filled in. */
  scenario: string;
  /** The hash that `tailroom run` prints as `scenario_hash`; null if the scenario names files. */
  hash: string | null;
}

export type Column = (number | null)[];
export type Columns<Name extends string = string> = Record<Name, Column>;

/** The columns of time series that the page reads. */
export const LINK_COLUMNS = [
  "time_s",
  "link",
  "queue_packets",
  "utilization",
  "drops_packets",
  "marks_packets",
] as const;
export const FLOW_COLUMNS = ["time_s", "flow", "cwnd_packets", "srtt_s"] as const;

export const POOL_COLUMNS = ["time_s", "link", "memory_bytes"] as const;

/** Memory that links share; links are positions in the list of names. */
export interface PoolOfLinks {
  name: string;
  size_bytes: number;
  links: number[];
}

/** Time series as columns; labels are positions in the lists of names. */
export interface Series {
  link_series: Columns<(typeof LINK_COLUMNS)[number]>;
  flow_series: Columns<(typeof FLOW_COLUMNS)[number]>;
  /** The memory of each link of a pool, and the pools; left out without pools. */
  pool_series?: Columns<(typeof POOL_COLUMNS)[number]>;
  pools?: PoolOfLinks[];
  names: { links: string[]; flows: string[] };
}

/** How long packets have waited at the links. */
export interface Delays {
  /** Fractions of the packets, ascending. */
  fractions: number[];
  /** By link: the mean, and for each fraction the wait that it does not exceed; null without packets. */
  links: Record<string, { mean_s: number | null; quantiles_s: number[] | null }>;
}

export interface Progress {
  /** Share of the run that is done, in [0, 1]. */
  fraction: number;
  /** Simulated time. */
  seconds: number;
  /** What is recorded so far. */
  series: Series | null;
  delays: Delays | null;
}

export interface RunOptions {
  signal: AbortSignal;
  /** Runs of a higher priority begin first. */
  priority: number;
  onProgress?: (progress: Progress) => void;
}

export interface LinkSummary {
  capacity_bps: number;
  utilization: number;
  loss_fraction: number | null;
  drops_packets: number;
  marks_packets: number;
  queue_packets_mean: number;
  queue_delay_s_mean: number | null;
  queue_delay_s_p99: number | null;
  discipline: string;
}

export interface PoolSummary {
  /** By link; `memory_share` is its part of the mean memory of all links, null if none was used. */
  links: Record<string, { memory_share: number | null }>;
}

/** Flows that have not completed count with their age: the percentile may then be a lower bound. */
export interface CompletionTimes {
  completion_time_s_p95: number | null;
  completion_time_s_p95_is_lower_bound: boolean;
  /** What it is at most; null if more than 5 % have not completed. */
  completion_time_s_p95_at_most: number | null;
}

export interface GroupSummary {
  flows: number;
  congestion: string | null;
  goodput_bps: number;
  share: number;
  loss_fraction: number | null;
  rtt_s_mean: number | null;
  queue_delay_s_mean: number | null;
  queue_delay_s_p99: number | null;
  congestion_events: number;
  completed_flows: number;
  jain_index: number | null;
  /** Flows that arrive and depart; null for permanent flows. */
  all_sizes: CompletionTimes | null;
}

export interface FlowSummary {
  name: string;
  group: string;
  congestion: string | null;
  goodput_bps: number;
}

/** The engine's summary, as `tailroom schema summary` describes it; the parts that the page shows. */
export interface Summary {
  seed: number;
  measured_from_s: number;
  measured_to_s: number;
  warnings: { text: string }[];
  links: Record<string, LinkSummary>;
  pools: Record<string, PoolSummary>;
  flows: FlowSummary[];
  groups: Record<string, GroupSummary>;
  packet_hops: number;
}

export interface Answer {
  summary: Summary;
  series: Series | null;
  /** Null where the run has no series. */
  delays: Delays | null;
  wallMs: number;
}

/** Which packets of a run are watched. */
export interface Span {
  link: string;
  beginS: number;
  toS: number;
}

/** The packets of a span. Numbers of flows count the permanent flows, and behind them the groups. */
export interface Watched {
  from_s: number;
  /** Earlier than asked for if there are too many packets. */
  to_s: number;
  names: { flows: string[]; groups: string[] };
  series: Series | null;
  /** Flows of the packets that are at the link when the span begins. */
  present: Uint32Array;
  /** By packet that is there, 1 if the link has marked it, or 0. */
  presentMarks: Uint8Array;
  /** Events in order of time: seconds after the span begins; 0 for an arrival, 1 for a departure, 2
   * for a drop, 3 for a mark; the flow. */
  times: Float64Array;
  events: Uint8Array;
  flows: Uint32Array;
}

export interface Parameter {
  name: string;
  doc: string;
  default?: unknown;
}

export interface Component {
  kind: string;
  doc: string;
  parameters: Parameter[];
}

/** Congestion controls, queue disciplines and sources with their parameters. */
export interface Components {
  congestion: Component[];
  queue: Component[];
  source: Component[];
}

/** The unit of a limit: a step is a packet, a byte, a nanosecond, or a millionth of a bandwidth-delay
 * product. */
export type Unit = "packets" | "B" | "ns" | "bdp";

/** One link and the traffic that crosses it; the fields that the page itself reads. */
export interface Bottleneck {
  name: string;
  discipline: string;
  /** Amounts in the buffer (`limit`, `threshold`), in waiting packets. */
  amounts_packets: Record<string, number>;
  /** Bytes of a step of each unit in which a limit may be written. */
  step_bytes: Record<Unit, number>;
  /** Whether packets of several sizes may wait. */
  packets_differ: boolean;
  /** Permanent flows, by group. */
  classes: { group: string }[];
  /** Groups whose flows arrive and depart; whether as a Poisson process, and what they offer. */
  dynamic: {
    group: string;
    poisson: boolean;
    arrivals_per_s: number;
    size_bytes_mean: number;
  }[];
  /** Groups without congestion control. */
  streams: { group: string; rate_bps: number; count: number }[];
  rate_bps: number;
  /** Size of the packets in which the buffer is counted. */
  packet_bytes: number;
  capacity_pps: number;
  /** Capacity times the mean propagation RTT of the long flows; 0 without flows. */
  bdp_packets: number;
}

/** The links of a network, as the rules read them. */
export interface ModelInput {
  duration_s: number;
  measure_from_s: number;
  /** Number of permanent flows. */
  flows: number;
  links: Bottleneck[];
  /** Names of the links that carry data packets. */
  crossed: string[];
  /** Name of the slowest of these links, and among equally slow links of the busiest. */
  busiest: string;
}

/** Raises what an engine reports as JSON. */
export function faultOf(text: string): Error {
  let report: { kind?: string; problems?: Problem[]; message?: string };
  try {
    report = JSON.parse(text) as typeof report;
  } catch {
    return new RunFault(text);
  }
  if (report.kind === "scenario") return new ScenarioFault(report.problems ?? []);
  return new RunFault(report.message ?? text);
}

/** Whether an error only says that the caller ended the work. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export function aborted(): DOMException {
  return new DOMException("The run was cancelled", "AbortError");
}

/** The version of the engine with the first eight digits of its commit. */
export function shortBuild(build: string): string {
  return build.replace(/(\+.{8}).*/, "$1");
}
