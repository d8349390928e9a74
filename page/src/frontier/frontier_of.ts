/** What the frontier is asked: the curves of the study's limit and of the disciplines, and where the present
 * setting and the answer lie. */

import type { Bottleneck } from "../rules/bottleneck";
import type { Targets } from "../state";
import { limitAxis } from "../study/axis";
import { estimateAt } from "../study/curve";
import { GROUP, metricOf, type Metric } from "../study/point";
import type { StudyState } from "../study/study";
import { costOf } from "./cost";
import type { Disciplines } from "./disciplines";
import { spotAt, type FrontierAsked, type FrontierCurve, type Spot } from "./frontier_picture";

/** @param answer - The smallest sufficient limit in steps; null without one. */
export function frontierOf(
  link: Bottleneck,
  who: string,
  { points, done }: Pick<StudyState, "points" | "done">,
  { curves, own }: Pick<Disciplines, "curves" | "own">,
  answer: number | null,
  targets: Targets,
): FrontierAsked {
  const cost = costOf(link, who);
  const { unit, steps } = link.buffer;
  const limited: FrontierCurve[] =
    own.length > 0
      ? []
      : [{ kind: link.discipline, axis: limitAxis(unit), usual: null, points, done }];
  const spot = (limit: number): Spot | null => {
    const mean = (metric: Metric | null): number | null =>
      estimateAt(points, limit, metric)?.mean ?? null;
    return spotAt(cost, mean(cost.metric), mean(metricOf(who, GROUP.delayP99)));
  };
  return {
    curves: [...limited, ...curves],
    who,
    cost,
    now: spot(steps),
    answer: answer === null ? null : spot(answer),
    targets,
  };
}
