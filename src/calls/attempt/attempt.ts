import type { AnsweredBy } from '../../providers/telephony/carrier-events.ts';
import type { CallStatus } from '../../providers/telephony/call-status.ts';
import type { AttemptOutcome } from './outcomes.ts';
import type { ReturnReason, StatusCallback } from '../contract.ts';
import type { Settings } from '../../settings.ts';

/**
 * - `queued`: waits for a slot.
 * - `granted`: holds a slot; the carrier has not been asked.
 * - `submitting`: the carrier is being asked, or was asked and the answer is lost. The carrier is never asked twice for one attempt.
 * - `placed`: the carrier has the call.
 * - `ended`: the line has ended, or the call was never placed.
 * - `returned`: given back undialled.
 */
type AttemptState = 'queued' | 'granted' | 'submitting' | 'placed' | 'ended' | 'returned';

/** One attempt to call a person, from the request to the end of the line. All moments in epoch ms. */
export interface Attempt {
  key: string;
  state: AttemptState;
  /** Its run; null before the attempt is submitted. */
  runId: number | null;
  configId: number | null;
  ownNumber: string | null;
  phone: string;
  notAfter: number | null;
  /** The carrier's id of the call; the first one that is reported counts. */
  callId: string | null;
  status: CallStatus | null;
  answeredBy: AnsweredBy | null;
  /** Whether machine detection will report a verdict. */
  awaitsVerdict: boolean;
  /** The agent was connected to a person. */
  isAgentConnected: boolean;
  submittedAt: number | null;
  answeredAt: number | null;
  endedAt: number | null;
  durationSeconds: number | null;
  sipCode: number | null;
  /** Counts how often the attempt was handed out for placing. Reports of an earlier submission are ignored. */
  submission: number;
  /** How often the attempt was requeued because it could not be placed for reasons of our own. */
  requeues: number;
  /** Whether the row of its run may exist. */
  hasRow: boolean;
  /** How often the carrier was asked about the call and knew nothing. */
  failedLookUps: number;
  /** When the attempt is checked if no report comes, epoch ms; null: it needs no check. */
  checkAt: number | null;
  outcome: AttemptOutcome | null;
  returned: ReturnReason | null;
  returnedUntil: number | null;
  detail: string | null;
  retryAfterSeconds: number | null;
  callbacks: StatusCallback[];
}

/** Durations of the rules, in ms. */
export interface CallTimeouts {
  carrierSilenceMs: number;
  /** From handing a call out until its carrier has answered, or never will. */
  placingTimeoutMs: number;
  /** How long callbacks of a call are awaited after the carrier's answer is lost. */
  unknownGraceMs: number;
  lookUpIntervalMs: number;
  machineVerdictTimeoutMs: number;
  resendMs: number;
}

const maxRequeueDelayMs = 30_000;

/** Whether an attempt holds a slot. */
export const holdsSlot = ({ state }: Pick<Attempt, 'state'>): boolean =>
  state === 'granted' || state === 'submitting' || state === 'placed';

/** Whether an attempt has reached a final state. */
export const isOver = ({ state }: Pick<Attempt, 'state'>): boolean => state === 'ended' || state === 'returned';

/** Gives a queued attempt a slot, the telephony configuration and the caller's number. */
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
 * The intent to place a call: from here on the carrier is asked once, by the one caller that the attempt was handed to. The attempt counts
 * as doubtful once the carrier must have answered.
 */
export const submitAttempt = <Kind extends Attempt>(attempt: Kind, now: number, timeouts: CallTimeouts): Kind => ({
  ...attempt,
  state: 'submitting',
  submission: attempt.submission + 1,
  failedLookUps: 0,
  submittedAt: now,
  checkAt: now + timeouts.placingTimeoutMs + timeouts.unknownGraceMs,
});

/** Puts an attempt that was certainly not placed back in the queue, with a delay that doubles each time. */
export const requeueAttempt = <Kind extends Attempt>(attempt: Kind, now: number): Kind & { notBefore: number } => ({
  ...attempt,
  state: 'queued',
  requeues: attempt.requeues + 1,
  notBefore: now + Math.min(maxRequeueDelayMs, 1000 * 2 ** attempt.requeues),
  submittedAt: null,
  checkAt: null,
  detail: null,
});

/** Gives an attempt back to its owner undialled. `until`: when a new request makes sense, epoch ms. */
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

/** Ends an attempt with the outcome of its line. `at` in epoch ms. */
export const endAttempt = <Kind extends Attempt>(
  attempt: Kind,
  outcome: AttemptOutcome,
  detail: string | null,
  at: number,
  retryAfterSeconds: number | null = null,
): Kind => ({ ...attempt, state: 'ended', outcome, detail, endedAt: at, checkAt: null, retryAfterSeconds });

/** The timeouts of the settings, in ms. */
export const toCallTimeouts = (settings: Settings): CallTimeouts => ({
  carrierSilenceMs: settings.CALL_SILENCE_SECONDS * 1000,
  placingTimeoutMs: (settings.CALL_ASK_WITHIN_SECONDS + settings.CALL_ANSWER_WITHIN_SECONDS) * 1000,
  unknownGraceMs: settings.CALL_UNKNOWN_AFTER_SECONDS * 1000,
  lookUpIntervalMs: settings.CALL_LOOK_AGAIN_SECONDS * 1000,
  machineVerdictTimeoutMs: settings.CALL_VERDICT_SECONDS * 1000,
  resendMs: settings.CALL_RESEND_SECONDS * 1000,
});
