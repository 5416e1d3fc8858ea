import type { AnsweredBy } from '../../providers/telephony/carrier-events.ts';
import type { CallStatus } from '../../providers/telephony/call-status.ts';
import type { AttemptOutcome } from './outcomes.ts';
import type { ReturnReason, StatusCallback } from '../contract.ts';
import type { Settings } from '../../settings.ts';

/**
 * - `queued`: waits for a slot.
 * - `granted`: holds a slot, and nobody has asked the carrier.
 * - `submitting`: somebody is asking the carrier, or has asked and the answer is lost. It is never asked again for this attempt.
 * - `placed`: the carrier has the call.
 * - `ended`: the line has ended, or the call never came to be.
 * - `returned`: given back undialled.
 */
type AttemptState = 'queued' | 'granted' | 'submitting' | 'placed' | 'ended' | 'returned';

/** One attempt to call a person, from the request to the end of the line. All moments in epoch ms. */
export interface Attempt {
  key: string;
  state: AttemptState;
  /** Its run; null before it is begun. */
  runId: number | null;
  configId: number | null;
  ownNumber: string | null;
  phone: string;
  notAfter: number | null;
  /** The carrier's; the first one that is heard of counts. */
  callId: string | null;
  status: CallStatus | null;
  answeredBy: AnsweredBy | null;
  /** Whether machine detection will come to a verdict. */
  awaitsVerdict: boolean;
  /** A person was given to the agent. */
  hasTalk: boolean;
  submittedAt: number | null;
  answeredAt: number | null;
  endedAt: number | null;
  durationSeconds: number | null;
  sipCode: number | null;
  /** Which time it is given to somebody to be placed: what is told of an earlier time counts no more. */
  submission: number;
  /** How often it came back because it could not be placed for reasons of our own. */
  requeues: number;
  /** Whether its run may have been written. */
  hasRow: boolean;
  /** How often the carrier was asked in vain for a call that it may or may not have. */
  looks: number;
  /** When to look at it again although nothing comes; null: it needs no watching. */
  checkAt: number | null;
  outcome: AttemptOutcome | null;
  returned: ReturnReason | null;
  returnedUntil: number | null;
  detail: string | null;
  retryAfterSeconds: number | null;
  callbacks: StatusCallback[];
}

/** Durations that the rules go by, in ms. */
export interface CallTimeouts {
  carrierSilenceMs: number;
  /** From when a call is given out until its carrier has been asked and has answered, or never will. */
  placingTimeoutMs: number;
  /** How long the carrier's own word on a call is waited for after its answer is lost. */
  unknownGraceMs: number;
  lookUpIntervalMs: number;
  machineVerdictTimeoutMs: number;
  resendMs: number;
}

const maxRequeueDelayMs = 30_000;

/** Whether it holds a slot. */
export const holdsSlot = ({ state }: Pick<Attempt, 'state'>): boolean =>
  state === 'granted' || state === 'submitting' || state === 'placed';

export const isOver = ({ state }: Pick<Attempt, 'state'>): boolean => state === 'ended' || state === 'returned';

export const grantAttempt = <Kind extends Attempt>(
  attempt: Kind,
  by: { configId: number; ownNumber: string; awaitsVerdict: boolean },
  now: number,
  timeouts: CallTimeouts,
): Kind => ({
  ...attempt,
  ...by,
  state: 'granted',
  detail: null,
  checkAt: now + timeouts.resendMs,
});

/**
 * The intent: from here on the carrier is asked once, by whoever was told that it had begun. Doubt begins when the carrier must have been
 * asked and have answered, since until then nobody knows that it was not.
 */
export const submitAttempt = <Kind extends Attempt>(attempt: Kind, now: number, timeouts: CallTimeouts): Kind => ({
  ...attempt,
  state: 'submitting',
  submission: attempt.submission + 1,
  looks: 0,
  submittedAt: now,
  checkAt: now + timeouts.placingTimeoutMs + timeouts.unknownGraceMs,
});

/** It has certainly not been placed: the same attempt is made later, each time somewhat later. */
export const requeueAttempt = <Kind extends Attempt>(attempt: Kind, now: number): Kind & { notBefore: number } => ({
  ...attempt,
  state: 'queued',
  requeues: attempt.requeues + 1,
  notBefore: now + Math.min(maxRequeueDelayMs, 1000 * 2 ** attempt.requeues),
  submittedAt: null,
  checkAt: null,
  detail: null,
});

export const returnAttempt = <Kind extends Attempt>(
  attempt: Kind,
  reason: ReturnReason,
  detail: string,
  now: number,
  until: number | null = null,
): Kind => ({
  ...attempt,
  state: 'returned',
  returned: reason,
  returnedUntil: until,
  detail,
  endedAt: now,
  checkAt: null,
});

export const endAttempt = <Kind extends Attempt>(
  attempt: Kind,
  outcome: AttemptOutcome,
  detail: string | null,
  at: number,
  retryAfterSeconds: number | null = null,
): Kind => ({ ...attempt, state: 'ended', outcome, detail, endedAt: at, checkAt: null, retryAfterSeconds });

export const toCallTimeouts = (settings: Settings): CallTimeouts => ({
  carrierSilenceMs: settings.CALL_SILENCE_SECONDS * 1000,
  placingTimeoutMs: (settings.CALL_ASK_WITHIN_SECONDS + settings.CALL_ANSWER_WITHIN_SECONDS) * 1000,
  unknownGraceMs: settings.CALL_UNKNOWN_AFTER_SECONDS * 1000,
  lookUpIntervalMs: settings.CALL_LOOK_AGAIN_SECONDS * 1000,
  machineVerdictTimeoutMs: settings.CALL_VERDICT_SECONDS * 1000,
  resendMs: settings.CALL_RESEND_SECONDS * 1000,
});
