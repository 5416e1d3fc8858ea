import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** The digits of a number in E.164 without its country code; undefined when no numbering plan knows it. */
export function findNationalNumber(phone: string): string | undefined {
  const number = parsePhoneNumberFromString(phone);
  return number?.isValid() ? number.nationalNumber : undefined;
}
