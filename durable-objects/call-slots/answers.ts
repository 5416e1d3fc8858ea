import { isOver } from '../../src/voice-agents/dialing/attempt/attempt.ts';
import { ownerOf, type BegunCall, type CarrierAnswer, type WhoAsks } from '../../src/voice-agents/dialing/contract.ts';
import type { LineEvent } from '../../src/providers/telephony/carrier-events.ts';
import type { StoredAttempt } from './attempt-rows.ts';

export const begunCallOf = (attempt: StoredAttempt): BegunCall => ({
  key: attempt.key,
  owner: ownerOf(attempt.owner),
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

/** What is to be done about the line of an attempt that has taken in `event`. */
export function whatToDo(attempt: StoredAttempt, event: LineEvent, asks: WhoAsks): CarrierAnswer {
  const isMachine = attempt.answeredBy === 'machine';
  if (isOver(attempt)) return asks === 'document' ? 'hang_up' : 'none';
  if (isMachine && event.kind === 'machine') return attempt.hasTalk ? 'end_talk' : 'hang_up';
  if (asks === 'nobody') return 'none';
  if (isMachine) return 'hang_up';
  // Nobody waits for the verdict of machine detection: whoever has answered would hear nothing meanwhile.
  return 'talk';
}
