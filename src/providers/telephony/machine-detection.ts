import type { AnsweredBy } from './carrier-events.ts';

const machinePattern = /^(?:machine|machine_.+|fax|fax_detected|beep_detected)$/;

/**
 * Who answered, from a carrier's word for it (Twilio's AnsweredBy, Telnyx's result). Doubt counts as a person: hanging up on one is worse
 * than talking to a machine. Undefined when nothing was detected.
 */
export function toAnsweredBy(word: string | null | undefined): AnsweredBy | undefined {
  if (word === null || word === undefined || word === '') return undefined;
  return machinePattern.test(word) ? 'machine' : 'person';
}
