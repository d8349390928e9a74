/** Which seconds of a run are watched. */

import type { Answer, ModelInput, Question, Series, Span } from "../engine/engine";
import type { Bottleneck } from "../rules/bottleneck";
import { questionOf } from "../scenario/reading";

/** Packets that a picture in motion shows at most. */
const MOST_PACKETS = 100_000;
const LONGEST_S = 4;
/** Where in the span the first loss is. */
const BEFORE_LOSS = 0.25;
/** Samples of the windows in the span, and in the run up to its end over all flows. */
const SAMPLES = 400;
const MOST_SAMPLES = 400_000;

/** Seconds of a span at a link of this many packets per second. */
function spanLength(packetsPerS: number): number {
  return Number(Math.min(LONGEST_S, MOST_PACKETS / packetsPerS).toPrecision(2));
}

/** When the span begins, so that the first loss or mark after `beginS` is in it. */
function spanStart(series: Series, link: string, beginS: number, lengthS: number): number {
  const at = series.names.links.indexOf(link);
  const {
    link: links,
    time_s: times,
    drops_packets: drops,
    marks_packets: marks,
  } = series.link_series;
  const first = times.findIndex(
    (time, row) =>
      links[row] === at && (time ?? 0) > beginS && (drops[row] ?? 0) + (marks[row] ?? 0) > 0,
  );
  const time = times[first] ?? beginS;
  return Math.max(0, Number((time - BEFORE_LOSS * lengthS).toPrecision(4)));
}

/** The interval of the time series of a run up to `toS`. */
function watchedInterval(toS: number, lengthS: number, flows: number): string {
  const interval = Math.max(lengthS / SAMPLES, (toS * Math.max(1, flows)) / MOST_SAMPLES, 1e-5);
  return `"${Number(interval.toPrecision(2))} s"`;
}

/** What is watched when somebody asks for it. */
export interface Subject {
  question: Question;
  span: Span;
  discipline: string;
  /** The group whose gaps are shown; "" for none. */
  who: string;
}

/** The packets around the first loss of a run's measured part. */
export function subjectOf(run: {
  text: string;
  input: ModelInput;
  link: Bottleneck;
  who: string;
  answer: Answer;
}): Subject {
  const { text, input, link, who, answer } = run;
  const lengthS = Math.min(input.duration_s, spanLength(link.capacity_pps));
  const { series } = answer;
  const from = series ? spanStart(series, link.name, input.measure_from_s, lengthS) : 0;
  const beginS = Math.min(from, Math.max(0, input.duration_s - lengthS));
  const toS = beginS + lengthS;
  const interval = watchedInterval(toS, lengthS, input.flows);
  return {
    question: questionOf(text, { "series.interval": interval }),
    span: { link: link.name, beginS, toS },
    discipline: link.discipline,
    who,
  };
}
