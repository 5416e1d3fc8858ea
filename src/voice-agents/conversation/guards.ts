/** How long a call and a silence may last. */
export interface Guards {
  maxCallDurationSeconds: number;
  /** After it the agent asks once whether somebody is there, after it again it says goodbye. Infinity: silence is no end. */
  maxUserIdleSeconds: number;
}

export const defaultGuards: Guards = { maxCallDurationSeconds: 300, maxUserIdleSeconds: 10 };
export const maxCallSeconds = 1200;

/** Epoch ms. */
export interface GuardTimes {
  startedAt: number;
  /** From when the other side has been silent; null: it is not its turn. */
  quietSince: number | null;
  isIdlePrompted: boolean;
}

export type GuardAction = 'none' | 'prompt' | 'end_idle' | 'end_duration';

/** What is due at `now`. */
export function findDueAction(guards: Guards, moments: GuardTimes, now: number): GuardAction {
  if (now >= callDeadline(guards, moments)) return 'end_duration';
  if (now < idleDeadline(guards, moments)) return 'none';
  return moments.isIdlePrompted ? 'end_idle' : 'prompt';
}

/** The first moment at which something is due unless something is said; Infinity: never. */
export const nextDueAt = (guards: Guards, moments: GuardTimes): number =>
  Math.min(callDeadline(guards, moments), idleDeadline(guards, moments));

const callDeadline = ({ maxCallDurationSeconds }: Guards, { startedAt }: GuardTimes): number => startedAt + maxCallDurationSeconds * 1000;

const idleDeadline = ({ maxUserIdleSeconds }: Guards, { quietSince }: GuardTimes): number =>
  quietSince === null ? Infinity : quietSince + maxUserIdleSeconds * 1000;
