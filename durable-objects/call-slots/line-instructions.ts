import { isOver } from '../../src/calls/attempt/attempt.ts';
import { parseOwner, type BegunCall, type LineInstruction, type ResponseChannel } from '../../src/calls/contract.ts';
import type { CallEvent } from '../../src/providers/telephony/carrier-events.ts';
import type { StoredAttempt } from './attempt-rows.ts';

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

/** What is to be done about the line of an attempt that has taken in `event`. */
export function decideInstruction(attempt: StoredAttempt, event: CallEvent, asks: ResponseChannel): LineInstruction {
  const isMachine = attempt.answeredBy === 'machine';
  if (isOver(attempt)) return asks === 'document' ? 'hang_up' : 'none';
  if (isMachine && event.kind === 'machine') return attempt.hasTalk ? 'end_talk' : 'hang_up';
  if (asks === 'nobody') return 'none';
  if (isMachine) return 'hang_up';
  // Nobody waits for the verdict of machine detection: whoever has answered would hear nothing meanwhile.
  return 'talk';
}
