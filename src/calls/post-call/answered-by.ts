import type { AnsweredBy } from '../../providers/telephony/carrier-events.ts';
import type { StatusCallback } from '../contract.ts';

/** Who answered a call, by the last verdict of machine detection; null: there was none. A call that ended in voicemail met a machine. */
export function toAnsweredBy(outcome: string, callbacks: readonly StatusCallback[]): AnsweredBy | null {
  if (outcome === 'voicemail') return 'machine';
  const verdict = callbacks.findLast(({ details }) => isVerdict(details['answered_by']))?.details['answered_by'];
  return isVerdict(verdict) ? verdict : null;
}

const isVerdict = (word: unknown): word is AnsweredBy => word === 'person' || word === 'machine';
