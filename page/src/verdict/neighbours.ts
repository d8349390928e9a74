/** The settings next to the present one in the verdict: half and twice of its buffer, and another
 * discipline. */

import type { PairedSubject } from "../study/paired_runs";
import { seedOf, studyText, type Subject } from "../study/study";
import type { Instead } from "./instead";

/** The other buffers of the sentence. */
export const HALF = "Half the buffer";
export const TWICE = "Twice the buffer";

/** The buffers in steps by their name, and the runs that they need.
 *
 * @param steps - The present limit.
 * @param most - The largest limit that there may be.
 */
export function neighboursOf(
  subject: Subject,
  steps: number,
  most: number,
  best: Instead | null,
): { buffers: [name: string, steps: number][]; paired: PairedSubject } {
  const both: [string, number][] = [
    [HALF, Math.round(steps / 2)],
    [TWICE, 2 * steps],
  ];
  const buffers = both.filter(([, limit]) => limit > 0 && limit !== steps && limit <= most);
  const texts = new Map(buffers.map(([name, limit]) => [name, studyText(subject, limit)]));
  if (best) texts.set(best.kind, studyText({ ...subject, axis: best.axis }, best.value));
  return {
    buffers,
    paired: {
      link: subject.link,
      text: studyText(subject, steps),
      seedOf: (seed) => seedOf(subject, { limit: steps, seed }),
      texts,
    },
  };
}
