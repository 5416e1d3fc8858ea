import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { toOnePersonSpelling, withoutArgentineNine } from './one-person.ts';

/**
 * The spelling, in E.164, that a carrier is asked to dial for `phone`; null when no numbering plan knows the number. A number that Argentina
 * has as a landline only is dialled without the 9.
 */
export function toDialled(phone: string): string | null {
  const one = toOnePersonSpelling(phone);
  return [one, withoutArgentineNine(one)].find((spelling) => spelling !== undefined && isKnown(spelling)) ?? null;
}

/** Whether a numbering plan knows the number (E.164), so that it can belong to somebody. */
export const isAssignable = (phone: string): boolean => toDialled(phone) !== null;

/** Why a number that is not assignable is not dialled, in a sentence. */
export const unassignableDetail = (phone: string): string =>
  `${phone} cannot belong to anybody: no numbering plan knows it; check the country code and the digits`;

const isKnown = (phone: string): boolean => parsePhoneNumberFromString(phone)?.isValid() ?? false;
