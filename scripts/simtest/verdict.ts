import type { Statistics } from './load-tests.ts';

/** Whether enough of the sessions passed, and a sentence that says why. */
export function toVerdict({ status, pass_rate: passRate }: Statistics, minPassRate: number): { isGood: boolean; why: string } {
  if (status === 'stopped') return { isGood: false, why: 'The load test was stopped, so it proves nothing.' };
  if (passRate === null) return { isGood: false, why: 'No session could be judged.' };
  if (passRate < minPassRate) return { isGood: false, why: `Too few passed: ${percent(passRate)} instead of ${percent(minPassRate)}.` };
  return { isGood: true, why: `Enough passed: ${percent(passRate)}, and ${percent(minPassRate)} had to.` };
}

/** Never rounded to the other side of a limit: up to two places, downwards. */
export const percent = (share: number): string => `${Math.floor(Number((share * 10_000).toFixed(6))) / 100} %`;
