/** The smallest limit that a queue accepts: thresholds must lie below it, and the largest packet fits. */

import { ScenarioFault, type Question } from "../engine/engine";
import type { Engine } from "../engine/pool";

/** Finds the limit by bisection, as `tailroom size` does: above an accepted limit all are accepted.
 *
 * @param questionAt - The question with a limit in steps.
 * @param largest - Largest limit that is of interest.
 * @throws ScenarioFault if the engine refuses the largest, too.
 */
export async function smallestAccepted(
  engine: Pick<Engine, "resolve">,
  questionAt: (limit: number) => Question,
  largest: number,
): Promise<number> {
  const refusal = async (limit: number): Promise<ScenarioFault | null> => {
    try {
      await engine.resolve(questionAt(limit));
      return null;
    } catch (error) {
      if (error instanceof ScenarioFault) return error;
      throw error;
    }
  };
  if (!(await refusal(1))) return 1;
  const ofLargest = await refusal(largest);
  if (ofLargest) throw ofLargest;
  let [refused, accepted] = [1, largest];
  while (accepted - refused > 1) {
    const middle = Math.floor((refused + accepted) / 2);
    if (await refusal(middle)) refused = middle;
    else accepted = middle;
  }
  return accepted;
}
