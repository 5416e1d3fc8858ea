import type { PlaceResult, RefusalKind } from '../../providers/telephony/telephony.ts';

/** What the line did, as rows show it. */
export const rowOutcomes = ['completed', 'busy', 'no_answer', 'voicemail', 'failed', 'cancelled'] as const;
export type RowOutcome = (typeof rowOutcomes)[number];

/**
 * How an attempt may end: as the line did, or
 * - `carrier_trouble`: the carrier or the network failed (5xx, a timeout, or the call turned out not to be placed);
 * - `rate_limited`: the carrier takes no more calls for now (429);
 * - `number_refused`, `number_blocked`: the carrier calls this number for nobody;
 * - `caller_id_refused`, `account_refused`, `request_refused`: the carrier refuses our account or request, and would refuse any row.
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

/**
 * The carrier's answer to `place`. `unasked`: `place` was never called, so there is certainly no call, and the attempt may be made later.
 */
export type PlacingResult = PlaceResult | { unasked: string };

/** Whether the circuit breaker counts an outcome as a failure. A person who is not reached is no failure. */
export const isFailure = (outcome: AttemptOutcome): boolean => !nonFailureOutcomes.has(outcome);

const nonFailureOutcomes = new Set<AttemptOutcome>(['completed', 'busy', 'no_answer', 'voicemail', 'cancelled', 'rate_limited']);

const rowOutcomeNames = new Set<string>(rowOutcomes);
/** The outcome of an attempt as rows show it: refusals and carrier trouble are `failed`. */
export const toRowOutcome = (outcome: AttemptOutcome): RowOutcome => (rowOutcomeNames.has(outcome) ? (outcome as RowOutcome) : 'failed');

/** Whether an attempt of which the carrier gave no call id ended so only because the carrier has no such call. */
export const isCertainlyUnplaced = (outcome: AttemptOutcome): boolean => !rowOutcomeNames.has(outcome);

/** The outcome of an attempt that the carrier refused to place. */
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
 * The outcome of a call that the carrier reports as failed, by its SIP response code (RFC 3261 section 21; 607 and 608: RFC 8197, RFC
 * 8688).
 */
export function outcomeFromSipCode(sipCode: number | undefined): AttemptOutcome {
  if (sipCode === undefined) return 'failed';
  if (unallocatedSipCodes.has(sipCode)) return 'number_refused';
  if (blockedSipCodes.has(sipCode)) return 'number_blocked';
  return sipCode === 408 || sipCode === 429 || (sipCode >= 500 && sipCode < 600) ? 'carrier_trouble' : 'failed';
}
