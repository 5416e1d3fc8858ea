import type { RelayEndEvent } from '../../src/providers/telephony/carrier-events.ts';
import { isPermanentError } from '../../src/providers/telephony/carrier-error.ts';
import type { LineState } from './call-record.ts';

/** `connect`: by a new session. `never_begun`: the line is to be ended, and nobody has talked on it. */
export type RelayEndAction = 'connect' | 'hang_up' | 'never_begun';

const maxReconnects = 3;

/** What is to be done with a live line whose relay session is over, and what is to be remembered of it. */
export function decideAfterRelayEnd(
  { lostSessions, reconnects }: Pick<LineState, 'lostSessions' | 'reconnects'>,
  { reason, sessionId, fault }: Pick<RelayEndEvent, 'reason' | 'sessionId' | 'fault'>,
  isBegun: boolean,
): { answer: RelayEndAction; change: Partial<LineState> } {
  const givenUp = { answer: isBegun ? ('hang_up' as const) : ('never_begun' as const), change: {} };
  if (reason !== 'lost' || (!isBegun && isPermanentError(fault))) return givenUp;
  // The carrier asks again when our answer was lost.
  if (sessionId !== undefined && lostSessions.includes(sessionId)) return { answer: 'connect', change: {} };
  if (reconnects >= maxReconnects) return givenUp;
  const known = sessionId === undefined ? lostSessions : [...lostSessions, sessionId];
  return { answer: 'connect', change: { reconnects: reconnects + 1, lostSessions: known } };
}
