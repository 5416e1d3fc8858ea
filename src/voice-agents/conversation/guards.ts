/** The maximum length of a call and of a silence. */
export interface Guards {
  maxCallDurationSeconds: number;
  /**
   * After this silence the agent asks once whether anybody is there; after another one it says goodbye. Infinity: silence does not end the talk.
   */
  maxUserIdleSeconds: number;
}

export const defaultGuards: Guards = { maxCallDurationSeconds: 300, maxUserIdleSeconds: 10 };
export const maxCallSeconds = 1200;

/** Moments in epoch ms. */
export interface GuardTimes {
  startedAt: number;
  /** Since when the person is silent; null: the agent has the turn. */
  quietSince: number | null;
  isIdlePrompted: boolean;
}

export type GuardAction = 'none' | 'prompt' | 'end_idle' | 'end_duration';

/** The action that is due at `now`. */
export function findDueAction(guards: Guards, moments: GuardTimes, now: number): GuardAction {
  if (now >= callDeadline(guards, moments)) return 'end_duration';
  if (now < idleDeadline(guards, moments)) return 'none';
  return moments.isIdlePrompted ? 'end_idle' : 'prompt';
}

/** Epoch ms at which the next action is due unless somebody speaks; Infinity: never. */
export const nextDueAt = (guards: Guards, moments: GuardTimes): number =>
  Math.min(callDeadline(guards, moments), idleDeadline(guards, moments));

const callDeadline = ({ maxCallDurationSeconds }: Guards, { startedAt }: GuardTimes): number => startedAt + maxCallDurationSeconds * 1000;

const idleDeadline = ({ maxUserIdleSeconds }: Guards, { quietSince }: GuardTimes): number =>
  quietSince === null ? Infinity : quietSince + maxUserIdleSeconds * 1000;
