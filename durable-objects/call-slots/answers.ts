import { isOver } from '../../src/voice-agents/dialing/attempt/attempt.ts';
import { ownerOf, type BegunCall, type CarrierAnswer, type WhoAsks } from '../../src/voice-agents/dialing/contract.ts';
import type { LineEvent } from '../../src/providers/telephony/carrier-events.ts';
import type { DialingTerms } from '../../src/voice-agents/telephony-configs/dialing-terms.ts';
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

/** What queued calls wait for: a word, then for people a sentence. */
export function whatFor(standing: {
  config: DialingTerms['config'];
  live: number;
  most: number | null;
  organizationLive: number;
  limit: number;
}) {
  const { config, live, most, organizationLive, limit } = standing;
  if (config === null) return 'telephony_not_configured: create a telephony configuration';
  if (most !== null && live >= most) return `max_concurrency: ${most} of its own calls at once, which is what it may have`;
  if (organizationLive >= limit) return `call_slots: all ${limit} calls that the plan allows at once are taken`;
  return `calls_per_second: ${config.callsPerSecond} a second may be dialled, or the persons are in other calls`;
}
