/** Epoch milliseconds. Passed in wherever a rule depends on time, so that tests and dry runs can set it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** ISO 8601 UTC with milliseconds and `Z`, the one form in which the API shows a moment. */
export const toTimestamp = (epochMs: number): string => new Date(epochMs).toISOString();

export const nullableTimestamp = (epochMs: number | null): string | null => (epochMs === null ? null : toTimestamp(epochMs));
