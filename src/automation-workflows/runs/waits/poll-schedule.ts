const minPollIntervalMs = 10 * 60_000;
const maxPollIntervalMs = 86_400_000;

/** When a sleeping run looks next, epoch ms, and how often it has looked. */
export interface PollSchedule {
  at: number;
  times: number;
}

export const firstPoll = (now: number): PollSchedule => ({ at: now + minPollIntervalMs, times: 0 });

/** 10 minutes after the beginning, then after 20, 40 and so on, at least once a day. */
export const nextPoll = ({ times }: PollSchedule, now: number): PollSchedule => ({
  at: now + Math.min(maxPollIntervalMs, minPollIntervalMs * 2 ** (times + 1)),
  times: times + 1,
});
