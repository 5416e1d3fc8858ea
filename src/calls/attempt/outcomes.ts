import type { PlaceResult, RefusalKind } from '../../providers/telephony/telephony.ts';

/** What the line did, as rows show it. */
export const rowOutcomes = ['completed', 'busy', 'no_answer', 'voicemail', 'failed', 'cancelled'] as const;
export type RowOutcome = (typeof rowOutcomes)[number];

/**
 * How an attempt may end: as the line did, or
 * - `carrier_trouble`: the carrier or the network failed (5xx, a timeout, a call that was found not to have been placed);
 * - `rate_limited`: the carrier asks for patience (429);
 * - `number_refused`, `number_blocked`: it does not call this number, whoever asks;
 * - `caller_id_refused`, `account_refused`, `request_refused`: it refuses us, and would refuse any row.
 */
export type AttemptOutcome =
  | RowOutcome
  | 'carrier_trouble'
  | 'rate_limited'
  | 'number_refused'
  | 'number_blocked'
  | 'caller_id_refused'
  | 'account_refused'
  | 'request_refused';

/** What the carrier's `place` answered; `unasked`: it was never called, so there is certainly no call, and the attempt may be made later. */
export type PlacingResult = PlaceResult | { unasked: string };

/** Whether the circuit breaker counts it as a failure. That a person was not reached is none. */
export const isFailure = (outcome: AttemptOutcome): boolean => !nonFailureOutcomes.has(outcome);

const nonFailureOutcomes = new Set<AttemptOutcome>(['completed', 'busy', 'no_answer', 'voicemail', 'cancelled', 'rate_limited']);

const rowOutcomeNames = new Set<string>(rowOutcomes);
export const toRowOutcome = (outcome: AttemptOutcome): RowOutcome => (rowOutcomeNames.has(outcome) ? (outcome as RowOutcome) : 'failed');

/** How an attempt ended that the carrier refused to begin. */
export const refusalOutcomes: Record<RefusalKind, AttemptOutcome> = {
  number: 'number_refused',
  blocked: 'number_blocked',
  caller_id: 'caller_id_refused',
  account: 'account_refused',
  request: 'request_refused',
};

const unallocatedSipCodes = new Set([404, 410, 484, 485, 604]);
const blockedSipCodes = new Set([607, 608]);

/**
 * What a call that the carrier reports as failed tells by its SIP response code (RFC 3261 section 21; 607 and 608: RFC 8197, RFC 8688).
 */
export function outcomeFromSipCode(sipCode: number | undefined): AttemptOutcome {
  if (sipCode === undefined) return 'failed';
  if (unallocatedSipCodes.has(sipCode)) return 'number_refused';
  if (blockedSipCodes.has(sipCode)) return 'number_blocked';
  return sipCode === 408 || sipCode === 429 || (sipCode >= 500 && sipCode < 600) ? 'carrier_trouble' : 'failed';
}
