import { isOver } from '../../src/calls/attempt/attempt.ts';
import { isCertainlyUnplaced, toRowOutcome } from '../../src/calls/attempt/outcomes.ts';
import {
  type AttemptReport,
  type BegunCall,
  type CallEnd,
  type LineInstruction,
  parseOwner,
  type ResponseChannel,
} from '../../src/calls/contract.ts';
import type { UnansweredCall } from '../../src/calls/post-call/finalize-unanswered.ts';
import { reportLevels, type StoredAttempt } from './stored-attempt.ts';
import type { CallEvent } from '../../src/providers/telephony/carrier-events.ts';

/** The report of an attempt's present state to its owner. */
export function toAttemptReport(attempt: StoredAttempt): AttemptReport {
  const { key, detail } = attempt;
  const runId = attempt.runId ?? 0;
  if (attempt.state === 'returned')
    return {
      kind: 'returned',
      key,
      at: attempt.endedAt!,
      reason: attempt.returned!,
      detail: detail ?? '',
      until: attempt.returnedUntil,
      isSpent: attempt.hasRow,
    };
  if (attempt.state === 'ended') {
    const { outcome, retryAfterSeconds } = attempt;
    return { kind: 'ended', key, at: attempt.endedAt!, runId, outcome: outcome!, detail, retryAfterSeconds };
  }
  if (attempt.reportLevel === reportLevels.answered) return { kind: 'answered', key, at: attempt.answeredAt!, runId };
  if (attempt.reportLevel === reportLevels.dialing) return { kind: 'dialing', key, at: attempt.submittedAt!, runId };
  return { kind: 'waiting', key, at: attempt.notBefore, reason: detail ?? '' };
}

/** The `reason` of an attempt that is over, as its row shows it; null: the outcome says enough. */
function toRowReason({ detail, outcome, returned }: StoredAttempt): string | null {
  if (detail === null) return null;
  if (/^[a-z_]+: /.test(detail)) return detail;
  return `${returned ?? outcome}: ${detail}`;
}

export const toCallEnd = (attempt: StoredAttempt): CallEnd => ({
  outcome: toRowOutcome(attempt.outcome ?? 'failed'),
  reason: toRowReason(attempt),
  answeredAt: attempt.answeredAt,
  endedAt: attempt.endedAt!,
  durationSeconds: callDurationSeconds(attempt),
  statusCallbacks: attempt.callbacks,
});

export const toUnansweredCall = (attempt: StoredAttempt): UnansweredCall => ({
  key: attempt.key,
  outcome: attempt.state === 'returned' ? 'cancelled' : toRowOutcome(attempt.outcome ?? 'failed'),
  reason: toRowReason(attempt),
  returned: attempt.returned,
  returnedUntil: attempt.returnedUntil,
  neverReachedCarrier: attempt.callId === null && (attempt.state === 'returned' || isCertainlyUnplaced(attempt.outcome ?? 'failed')),
  ownNumber: attempt.ownNumber,
  answeredAt: attempt.answeredAt,
  endedAt: attempt.endedAt!,
  durationSeconds: callDurationSeconds(attempt),
  statusCallbacks: attempt.callbacks,
});

/** The carrier's duration if known; otherwise the time from the answer to the end. */
const callDurationSeconds = ({ durationSeconds, answeredAt, endedAt }: StoredAttempt): number =>
  durationSeconds ?? (answeredAt === null || endedAt === null ? 0 : Math.max(0, Math.round((endedAt - answeredAt) / 1000)));

/** The state of a call in one word, with its reason. */
export function toCallStatus(attempt: StoredAttempt): { callStatus: string; reason: string | null } {
  if (isOver(attempt)) {
    const callStatus = attempt.state === 'returned' ? 'cancelled' : toRowOutcome(attempt.outcome ?? 'failed');
    return { callStatus, reason: toRowReason(attempt) };
  }
  const placed = attempt.answeredAt !== null ? 'in_progress' : attempt.status === 'ringing' ? 'ringing' : 'dialing';
  const callStatus = attempt.state === 'queued' ? 'queued' : attempt.state === 'placed' ? placed : 'dialing';
  return { callStatus, reason: attempt.detail };
}

export const toBegunCall = (attempt: StoredAttempt): BegunCall => ({
  key: attempt.key,
  owner: parseOwner(attempt.owner),
  phone: attempt.phone,
  ownNumber: attempt.ownNumber!,
  configId: attempt.configId!,
  agentId: attempt.agentId,
  contactId: attempt.contactId,
  name: attempt.name,
  initialContext: attempt.initialContext ?? '{}',
  machineDetection: attempt.awaitsVerdict,
  notAfter: attempt.notAfter,
  submission: attempt.submission,
});

/** What to do with the line of an attempt after `event` was applied to the attempt. */
export function decideInstruction(attempt: StoredAttempt, event: CallEvent, channel: ResponseChannel): LineInstruction {
  const isMachine = attempt.answeredBy === 'machine';
  if (isOver(attempt)) return channel === 'document' ? 'hang_up' : 'none';
  if (isMachine && event.kind === 'machine') return attempt.isAgentConnected ? 'end_talk' : 'hang_up';
  if (channel === 'nobody') return 'none';
  if (isMachine) return 'hang_up';
  // The agent talks before the verdict of machine detection: the person would hear silence meanwhile.
  return 'talk';
}
