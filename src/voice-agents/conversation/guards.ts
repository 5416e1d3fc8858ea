/** How long a call and a silence may last. */
export interface Guards {
  maxCallDurationSeconds: number;
  /** After it the agent asks once whether somebody is there, after it again it says goodbye. Infinity: silence is no end. */
  maxUserIdleSeconds: number;
}

export const usualGuards: Guards = { maxCallDurationSeconds: 300, maxUserIdleSeconds: 10 };
export const longestCallSeconds = 1200;

/** Epoch ms. */
export interface Moments {
  startedAt: number;
  /** From when the other side has been silent; null: it is not its turn. */
  quietSince: number | null;
  isIdlePrompted: boolean;
}

export type GuardAction = 'none' | 'prompt' | 'end_idle' | 'end_duration';

/** What is due at `now`. */
export function dueAction(guards: Guards, moments: Moments, now: number): GuardAction {
  if (now >= durationEnd(guards, moments)) return 'end_duration';
  if (now < idleEnd(guards, moments)) return 'none';
  return moments.isIdlePrompted ? 'end_idle' : 'prompt';
}

/** The first moment at which something is due unless something is said; Infinity: never. */
export const nextDueAt = (guards: Guards, moments: Moments): number => Math.min(durationEnd(guards, moments), idleEnd(guards, moments));

const durationEnd = ({ maxCallDurationSeconds }: Guards, { startedAt }: Moments): number => startedAt + maxCallDurationSeconds * 1000;

const idleEnd = ({ maxUserIdleSeconds }: Guards, { quietSince }: Moments): number =>
  quietSince === null ? Infinity : quietSince + maxUserIdleSeconds * 1000;
