/** After so many days the quarters of an hour of a day are added up. */
const foldAfterDays = 35;

/** Days that have ended before this moment may have been added up. Epoch ms. */
export const foldHorizon = (now: number): number => now - foldAfterDays * 86_400_000;
