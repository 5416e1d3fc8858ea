import { invalidAt } from '../library/errors.ts';
import { normalizeOwnNumber, normalizePhone } from '../library/phone/phone-numbers.ts';
import { restorePlus } from '../library/phone/unescaped-plus.ts';

/** The phone number of a person in a query string, in E.164. `parameter`: its name. Throws 422 `invalid_phone`. */
export const readQueryPhone = (text: string, defaultCountry: string, parameter = 'phone'): string =>
  requirePhone(normalizePhone(restorePlus(text), defaultCountry), parameter);

/** As `readQueryPhone`, of a number of the organization, which is stored as its carrier knows it. */
export const readQueryOwnNumber = (text: string, defaultCountry: string, parameter = 'own_number'): string =>
  requirePhone(normalizeOwnNumber(restorePlus(text), defaultCountry), parameter);

function requirePhone(reading: ReturnType<typeof normalizePhone>, parameter: string): string {
  if ('phone' in reading) return reading.phone;
  throw invalidAt(['query', parameter], reading.detail, 'invalid_phone');
}
