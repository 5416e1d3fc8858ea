const firstPauseMs = 10 * 60_000;
const longestPauseMs = 86_400_000;

/** When a sleeping run looks next, epoch ms, and how often it has looked. */
export interface Look {
  at: number;
  times: number;
}

export const firstLook = (now: number): Look => ({ at: now + firstPauseMs, times: 0 });

/** 10 minutes after the beginning, then after 20, 40 and so on, at least once a day. */
export const nextLook = ({ times }: Look, now: number): Look => ({
  at: now + Math.min(longestPauseMs, firstPauseMs * 2 ** (times + 1)),
  times: times + 1,
});
