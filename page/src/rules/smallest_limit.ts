/** The smallest queue limit that meets a target, for a rule that predicts at a given limit. */

const LARGEST_LIMIT = 1e9;

/** Returns the smallest whole limit, at least 1, at which `meets` is true; infinite if none is.
 *
 * @param meets - Monotone: once true, it stays true for larger limits.
 */
export function smallestLimit(meets: (limit: number) => boolean): number {
  let high = 1;
  while (!meets(high)) {
    if (high >= LARGEST_LIMIT) return Infinity;
    high = Math.min(4 * high, LARGEST_LIMIT);
  }
  let low = high === 1 ? 0 : high / 4;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (meets(middle)) high = middle;
    else low = middle;
  }
  return high;
}
