import { stepsSpentByAll } from './work-budget.ts';

/** Between two slices of long work: requests that came meanwhile are answered first. */
export const letOthersRun = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** About ten milliseconds. */
const stepsATurn = 40_000;
let turnBeganAt = 0;

/** Between two pieces of work whose steps are counted: requests that came meanwhile are answered first once the pieces are a turn's work. */
export async function endTurnAfterWork(): Promise<void> {
  if (stepsSpentByAll() - turnBeganAt < stepsATurn) return;
  turnBeganAt = stepsSpentByAll();
  await letOthersRun();
}
