/** An index makes vectors visible in the order of their upserts, so this many of the last ones stand for all. */
export const visibilitySampleSize = 20;

/** The checks of one hour. */
export const maxVisibilityChecks = 75;

/** The delay before the next check: 2, 4, 6 ... up to 60 seconds. `looks`: checks so far. */
export const toVisibilityDelaySeconds = (looks: number): number => Math.min(60, 2 * (looks + 1));
