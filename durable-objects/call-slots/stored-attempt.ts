import { holdsSlot, isOver, type Attempt } from '../../src/calls/attempt/attempt.ts';
import type { RequestedCall } from '../../src/calls/contract.ts';

/** Work outside of this object that is still open after an attempt is over. */
type FollowUp =
  /** No work: the attempt is not over yet, or all work is done. */
  | 'none'
  /** The agent did not talk on the call: its row must be completed. */
  | 'silent'
  /** The object of the call must be notified that the line has ended. */
  | 'talk'
  /** The object of the call completes the run; the slots wake it until it reports that the run is finalized. */
  | 'watch';

/** How much of an attempt its owner must know; the highest level that applies. */
export const reportLevels = { none: 0, waiting: 1, dialing: 2, answered: 3, over: 4 } as const;

export interface StoredAttempt extends Attempt {
  seq: number;
  owner: string;
  lane: string;
  epoch: number;
  notBefore: number;
  agentId: number;
  contactId: number | null;
  name: string;
  /** Null once the attempt is over. */
  initialContext: string | null;
  grantedAt: number | null;
  /** When the person was called last before this attempt, epoch ms; null: no such call is remembered. */
  dialledBefore: number | null;
  /** The key of that call; null: it is not known. */
  previousKey: string | null;
  followUp: FollowUp;
  reportLevel: number;
  reportedLevel: number;
}

/**
 * Whether no other attempt may call the person. The person may have asked for no more calls, so the conversation must be evaluated first.
 */
export const isEngaged = (attempt: Pick<StoredAttempt, 'state' | 'followUp'>): boolean =>
  holdsSlot(attempt) || attempt.followUp === 'talk' || attempt.followUp === 'watch';

/** Whether work on an attempt is left, other than to grant it a slot. */
export const isOpen = (attempt: Pick<StoredAttempt, 'state' | 'followUp' | 'reportLevel' | 'reportedLevel'>): boolean =>
  holdsSlot(attempt) || attempt.reportLevel > attempt.reportedLevel || (isOver(attempt) && attempt.followUp !== 'none');

/** The row of a new attempt, in state `queued`. */
export const newAttempt = (
  call: RequestedCall,
  of: { owner: string; lane: string; epoch: number; notBefore: number },
): Omit<StoredAttempt, 'seq'> => ({
  ...of,
  key: call.key,
  state: 'queued',
  runId: null,
  configId: null,
  ownNumber: null,
  phone: call.phone,
  notAfter: call.notAfter,
  agentId: call.agentId,
  contactId: call.contactId,
  name: call.name,
  initialContext: call.initialContext,
  callId: null,
  status: null,
  answeredBy: null,
  awaitsVerdict: false,
  isAgentConnected: false,
  grantedAt: null,
  submittedAt: null,
  answeredAt: null,
  endedAt: null,
  durationSeconds: null,
  sipCode: null,
  submission: 0,
  requeues: 0,
  hasRow: false,
  dialledBefore: null,
  previousKey: null,
  failedLookUps: 0,
  checkAt: null,
  outcome: null,
  returned: null,
  returnedUntil: null,
  detail: null,
  retryAfterSeconds: null,
  callbacks: [],
  followUp: 'none',
  reportLevel: reportLevels.none,
  reportedLevel: reportLevels.none,
});
