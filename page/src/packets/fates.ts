/** The packets of a span of time at one link, and what became of each. */

import type { Watched } from "../engine/engine";

const [ARRIVAL, , DROP, MARK] = [0, 1, 2, 3];

/** Packets in the order in which they arrived; times in seconds after the span begins. */
export interface Fates {
  /** Number of the packet's flow. */
  flow: Uint32Array;
  /** Negative for packets that are there when the span begins. */
  arrival: Float64Array;
  /** When the packet departs or is dropped; infinite if that is after the span. */
  end: Float64Array;
  isDropped: Uint8Array;
  /** When the link marks the packet: negative if that is before the span, infinite if not in it. */
  marked: Float64Array;
  /** The latest end of all packets up to this one. */
  latestEnd: Float64Array;
  /** Packets that are dropped, in the order of the drops, and the times of the drops. */
  drops: number[];
  dropTimes: number[];
  /** Times of the marks in the span, in order. */
  markTimes: number[];
}

/** Disciplines that drop the packet that waits longest when a packet finds no room. */
const DROP_OLDEST = new Set(["drop_head", "fq_codel"]);

/** Follows each packet. Packets of a flow depart in order. A drop at the time of an arrival is the
 * packet that arrives, except where the discipline drops the oldest; any other drop is the packet of
 * its flow that waits longest. Of `random_drop` the log does not say which packet of the flow it was.
 * A mark at the time of an arrival is that of the packet that arrives; any other mark, of the packet of
 * its flow whose transmission begins. */
export function fatesOf(watched: Watched, discipline: string): Fates {
  const { present, presentMarks, times, events, flows } = watched;
  const arrivals = events.reduce((count, event) => count + Number(event === ARRIVAL), 0);
  const size = present.length + arrivals;
  const fates: Fates = {
    flow: new Uint32Array(size),
    arrival: new Float64Array(size),
    end: new Float64Array(size).fill(Infinity),
    isDropped: new Uint8Array(size),
    marked: new Float64Array(size).fill(Infinity),
    latestEnd: new Float64Array(size),
    drops: [],
    dropTimes: [],
    markTimes: [],
  };
  const waiting = new Map<number, Line>();
  let next = 0;
  const arrive = (flow: number, time: number): void => {
    fates.flow[next] = flow;
    fates.arrival[next] = time;
    const line = waiting.get(flow) ?? new Line();
    line.join(next++);
    waiting.set(flow, line);
  };
  for (const flow of present) arrive(flow, -1);
  presentMarks.forEach((isMarked, packet) => {
    if (isMarked === 1) fates.marked[packet] = -1;
  });
  for (let place = 0; place < events.length; place++) {
    const [time, flow, event] = [times[place] ?? 0, flows[place] ?? 0, events[place]];
    if (event === ARRIVAL) {
      arrive(flow, time);
      continue;
    }
    const line = waiting.get(flow);
    const hasArrived = fates.arrival[line?.last ?? -1] === time;
    if (event === MARK) {
      fates.marked[(hasArrived ? line?.last : line?.first) ?? -1] = time;
      fates.markTimes.push(time);
      continue;
    }
    const isNewest = event === DROP && !DROP_OLDEST.has(discipline) && hasArrived;
    const packet = isNewest ? line?.leaveLast() : line?.leaveFirst();
    if (packet === undefined) continue;
    fates.end[packet] = time;
    if (event !== DROP) continue;
    fates.isDropped[packet] = 1;
    fates.drops.push(packet);
    fates.dropTimes.push(time);
  }
  let latest = -Infinity;
  for (let packet = 0; packet < size; packet++) {
    latest = Math.max(latest, fates.end[packet] ?? 0);
    fates.latestEnd[packet] = latest;
  }
  return fates;
}

/** The packets of one flow at the link. */
class Line {
  readonly #packets: number[] = [];
  #first = 0;

  get first(): number | undefined {
    return this.#packets[this.#first];
  }

  get last(): number | undefined {
    return this.#packets.length > this.#first ? this.#packets.at(-1) : undefined;
  }

  join(packet: number): void {
    this.#packets.push(packet);
  }

  leaveFirst(): number | undefined {
    return this.last === undefined ? undefined : this.#packets[this.#first++];
  }

  leaveLast(): number | undefined {
    return this.last === undefined ? undefined : this.#packets.pop();
  }
}

/** The first place in rising numbers whose number is greater than this. */
export function placeAbove(numbers: ArrayLike<number>, bound: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Calls for each packet that is at the link at a time, in order of arrival. */
export function eachPresent(fates: Fates, time: number, call: (packet: number) => void): void {
  const end = placeAbove(fates.arrival, time);
  for (let packet = placeAbove(fates.latestEnd, time); packet < end; packet++) {
    if ((fates.end[packet] ?? 0) > time) call(packet);
  }
}

/** The number of packets at the link at a time. */
export function presentAt(fates: Fates, time: number): number {
  let count = 0;
  eachPresent(fates, time, () => count++);
  return count;
}

/** The number of packets at the link at a time, by the numbers of flows up to `last`. */
export function presentByFlow(fates: Fates, time: number, last: number): Uint32Array {
  const counts = new Uint32Array(last + 1);
  eachPresent(fates, time, (packet) => {
    const flow = fates.flow[packet] ?? 0;
    counts[flow] = (counts[flow] ?? 0) + 1;
  });
  return counts;
}

export interface Counts {
  arrivals: number;
  departures: number;
  drops: number;
  marks: number;
  /** Most packets at the link at the same time. */
  most: number;
}

export function countsOf({ present, events }: Watched): Counts {
  const counts = { arrivals: 0, departures: 0, drops: 0, marks: 0, most: present.length };
  let here = present.length;
  // The number falls only by departures and drops, and a packet that is dropped as it arrives is gone
  // before the next departure.
  for (const event of events) {
    if (event === ARRIVAL) counts.arrivals++;
    else if (event === DROP) counts.drops++;
    else if (event === MARK) counts.marks++;
    else {
      counts.departures++;
      counts.most = Math.max(counts.most, here);
    }
    if (event !== MARK) here += event === ARRIVAL ? 1 : -1;
  }
  counts.most = Math.max(counts.most, here);
  return counts;
}

/** The times at which packets of flows depart. */
export function departures(fates: Fates, flows: Set<number>): number[] {
  const times: number[] = [];
  for (let packet = 0; packet < fates.flow.length; packet++) {
    const end = fates.end[packet] ?? Infinity;
    const isWanted = flows.has(fates.flow[packet] ?? 0) && fates.isDropped[packet] === 0;
    if (isWanted && end < Infinity) times.push(end);
  }
  return times.sort((a, b) => a - b);
}

/** The longest time between two neighbouring times; null with fewer than two. */
export function longestGap(times: number[]): number | null {
  if (times.length < 2) return null;
  return times.reduce(
    (most, time, place) => Math.max(most, place > 0 ? time - (times[place - 1] ?? time) : 0),
    0,
  );
}
