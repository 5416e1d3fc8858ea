import type { RelayEndEvent } from '../../src/providers/telephony/carrier-events.ts';
import { isLasting } from '../../src/providers/telephony/carrier-fault.ts';
import type { Line } from './call-record.ts';

/** `connect`: by a new session. `never_begun`: the line is to be ended, and nobody has talked on it. */
export type AfterRelay = 'connect' | 'hang_up' | 'never_begun';

const mostReconnects = 3;

/** What is to be done with a live line whose relay session is over, and what is to be remembered of it. */
export function afterRelay(
  { lostSessions, reconnects }: Pick<Line, 'lostSessions' | 'reconnects'>,
  { reason, sessionId, fault }: Pick<RelayEndEvent, 'reason' | 'sessionId' | 'fault'>,
  isBegun: boolean,
): { answer: AfterRelay; change: Partial<Line> } {
  const givenUp = { answer: isBegun ? ('hang_up' as const) : ('never_begun' as const), change: {} };
  if (reason !== 'lost' || (!isBegun && isLasting(fault))) return givenUp;
  // The carrier asks again when our answer was lost.
  if (sessionId !== undefined && lostSessions.includes(sessionId)) return { answer: 'connect', change: {} };
  if (reconnects >= mostReconnects) return givenUp;
  const known = sessionId === undefined ? lostSessions : [...lostSessions, sessionId];
  return { answer: 'connect', change: { reconnects: reconnects + 1, lostSessions: known } };
}
