/** The value below which the share `rank` (0 to 1) of the values lies, by the nearest rank; null of none. `sorted` is ascending. */
export const percentileOf = (sorted: readonly number[], rank: number): number | null =>
  sorted[Math.max(0, Math.ceil(sorted.length * rank) - 1)] ?? null;

export const sortAscending = (values: readonly number[]): number[] => values.toSorted((one, other) => one - other);
