import { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString, validatePhoneNumberLength } from 'libphonenumber-js/max';
import type { CountryCode, PhoneNumber } from 'libphonenumber-js/max';
import { formatting, findPhoneTextError, cleanPhoneText, separatorNotBeforeExtension } from './phone-text.ts';
import { toOnePersonSpelling, withoutMexicanPrefix, withoutNationalMexicanPrefix } from './one-person.ts';
import { isAssignable } from './assignable.ts';
import type { PhoneErrorReason } from './phone-text.ts';

export type { PhoneErrorReason } from './phone-text.ts';

/** `phone` is in E.164. `detail` is a sentence for the person who typed the number: it quotes the value and tells the next step. */
export type PhoneParseResult = { phone: string } | { reason: PhoneErrorReason; detail: string };

/** Whether `value` is a two-letter country code (ISO 3166-1 alpha-2, upper case) that has telephone numbers. */
export const isCountryCode = (value: string): value is CountryCode => isSupportedCountry(value);

/**
 * Reads the phone number of a person, in the same way for every source, as the one spelling of that person. A number without country code
 * must be one of `defaultCountry`. One with a country code is kept if it has 7 to 15 digits, whether or not a numbering plan knows it.
 */
export function normalizePhone(raw: string, defaultCountry: string): PhoneParseResult {
  const reading = readNumber(raw, defaultCountry);
  return 'phone' in reading ? { phone: toOnePersonSpelling(reading.phone) } : reading;
}

/** Reads a number that calls or messages come from: `normalizePhone`, but the number stays as its carrier knows it. */
export const normalizeOwnNumber = (raw: string, defaultCountry: string): PhoneParseResult => readNumber(raw, defaultCountry);

function readNumber(raw: string, defaultCountry: string): PhoneParseResult {
  if (raw.length > maxTextLength) return phoneError('too_long', raw, 'is too long to be a phone number; give one number');
  const text = cleanPhoneText(raw);
  const objection = findPhoneTextError(text);
  if (objection) return phoneError(objection.reason, raw, objection.message);

  const digits = text.replace(formatting, '').replace(/^\++/, '+');
  if (!/^\+?\d+$/.test(digits))
    return phoneError('not_a_number', raw, 'is not a phone number; write digits only, with + and the country code in front');
  if (/^\+?0+$/.test(digits)) return phoneError('all_zeros', raw, 'is only zeros; give the real number or leave it empty');
  if (digits.startsWith('+0'))
    return phoneError('country_unknown', raw, 'has a zero after the plus, where the country code belongs; write + and the country code');
  if (!digits.startsWith('+') && !isCountryCode(defaultCountry)) {
    return phoneError('country_missing', raw, 'has no country code and no default country is known; write it with + and the country code');
  }

  const country = isCountryCode(defaultCountry) ? defaultCountry : undefined;
  const candidates = listCandidates(text, digits, country);
  const number = pickLikeliest(candidates, country);
  const isNational = !candidates[0]!.startsWith('+');
  if (!number) return isNational ? lengthError(raw, digits, country) : keepInternational(raw, candidates[0]!);
  if (/^0+$/.test(number.nationalNumber))
    return phoneError('all_zeros', raw, 'has only zeros after the country code; give the real number or leave it empty');
  if (isNational && !isAssignable(number.number))
    return phoneError('not_of_country', raw, `is not a number of ${defaultCountry}; ${nameCountryAdvice}`);
  // A zero that the plan drops may leave too few digits; then the number is none of the plan, and is kept as written.
  return keepInternational(raw, isNational || number.number.length > minDigits ? number.number : candidates[0]!);
}

const nameCountryAdvice = 'if it belongs to another country, write it with + and the country code, or name that country as default_country';

function keepInternational(raw: string, phone: string): PhoneParseResult {
  const length = phone.length - 1;
  if (phone.startsWith('+0'))
    return phoneError('country_unknown', raw, 'has a zero where the country code belongs; write + and the country code');
  if (length < minDigits) return phoneError('too_short', raw, 'has too few digits for a number with its country code; check the digits');
  if (length > maxDigits) return phoneError('too_long', raw, 'has too many digits for a number with its country code; check the digits');
  if (/^\+\d{1,3}0{6,}$/.test(phone))
    return phoneError('all_zeros', raw, 'has only zeros after the country code; give the real number or leave it empty');
  return { phone };
}

const maxTextLength = 100;
/** Of a number with its country code. */
const [minDigits, maxDigits] = [7, 15];
const maxCellLength = 1000;

/** Whether a cell contains more than the one number that `findFirstPhone` finds in it. */
export const hasSeveralNumbers = (cell: string, defaultCountry: string): boolean =>
  /[:;,|/\n+]/.test(cell) && !('phone' in normalizePhone(cell, defaultCountry));

/** The first number of a cell that can be used, where cells may hold several: `a ::: b`, `a / b`, `a; b`, `a, b`. */
export function findFirstPhone(cell: string, defaultCountry: string): PhoneParseResult {
  let refusal: PhoneParseResult | undefined;
  for (const piece of splitNumbers(cell.slice(0, maxCellLength))) {
    const reading = piece.includes('/') ? parseAroundSlash(piece, defaultCountry).best : normalizePhone(piece, defaultCountry);
    if ('phone' in reading) return reading;
    refusal ??= reading;
  }
  return refusal ?? normalizePhone('', defaultCountry);
}

/** Every number of a cell of any length, in order, and why each piece that is none cannot be used. None: the cell is empty. */
export function findPhones(cell: string, defaultCountry: string): PhoneParseResult[] {
  const line = cell.replace(/\s+/g, (blanks) => (blanks.includes('\n') ? '\n' : ' '));
  return splitNumbers(line).flatMap((piece) =>
    piece.includes('/') ? parseAroundSlash(piece, defaultCountry).all : [normalizePhone(piece, defaultCountry)],
  );
}

function splitNumbers(cell: string): string[] {
  const thousands = /^\s*\d{1,3}(,\d{3}){2,}(\.0+)?\s*$/.test(cell);
  return (thousands ? [cell.replaceAll(',', '')] : cell.split(separatorNotBeforeExtension)).filter((piece) => piece.trim() !== '');
}

/** A slash stands between two numbers, or, as Germans write, between area code and number (`030/901820`): then `all` is that one. */
function parseAroundSlash(piece: string, defaultCountry: string): { best: PhoneParseResult; all: PhoneParseResult[] } {
  const whole = normalizePhone(piece, defaultCountry);
  const parts = piece.split('/').filter((part) => /\d/.test(part));
  const all = parts.map((part) => normalizePhone(part, defaultCountry));
  const readings = all.filter((reading) => 'phone' in reading);
  const first = parts[0]?.replace(/\D/g, '').length ?? 0;
  const inOrder = 'phone' in whole ? (first < 8 ? [whole, ...readings] : [...readings.slice(0, 1), whole, ...readings.slice(1)]) : readings;
  const best = inOrder.find((reading) => parsePhoneNumberFromString(reading.phone)?.isValid()) ?? inOrder[0] ?? whole;
  return { best, all: best === whole ? [whole] : all };
}

/** The possible readings of the digits, likeliest first. `(0)` is dialled only inside the country, but in Italy it belongs to the number. */
function listCandidates(text: string, digits: string, country: CountryCode | undefined): string[] {
  const isInternational = /^(?:\+|00|011)/.test(digits);
  const trunkZero =
    /\(\s*0\s*\)/.test(text) && isInternational
      ? text
          .replace(/\(\s*0\s*\)/, '')
          .replace(formatting, '')
          .replace(/^\++/, '+')
      : undefined;
  return trunkZero === undefined
    ? listInterpretations(digits, country)
    : [...listInterpretations(trunkZero, country), ...listInterpretations(digits, country)];
}

function listInterpretations(written: string, country: CountryCode | undefined): string[] {
  const spelling = country === 'MX' ? withoutNationalMexicanPrefix(written) : written;
  if (spelling.startsWith('+')) return [withoutMexicanPrefix(spelling)];
  if (spelling.startsWith('00')) {
    const abroad = withoutMexicanPrefix(`+${spelling.slice(2)}`);
    // Some countries dial out with more than 00 (Australia 0011); as a national number only a known one is believed.
    return parse(spelling, country)?.isValid() ? [abroad, spelling] : [abroad];
  }
  // 011 dials out of North America, but in Italy, India or South Africa it is an area code.
  if (spelling.startsWith('011') && country) {
    const abroad = withoutMexicanPrefix(`+${spelling.slice(3)}`);
    return getCountryCallingCode(country) === '1' ? [abroad] : [spelling, abroad];
  }
  return [spelling];
}

function pickLikeliest(candidates: string[], country: CountryCode | undefined): PhoneNumber | undefined {
  const possible = candidates.map((candidate) => parseDialable(candidate, country)).filter((number) => number !== undefined);
  return possible.length > 1 ? (possible.find((number) => number.isValid()) ?? possible[0]) : possible[0];
}

/** Whether a number is possible and reads as the same number again: `310-1234` is possible in Canada, `+13101234` is not. */
function parseDialable(text: string, country: CountryCode | undefined): PhoneNumber | undefined {
  const number = parse(text, country);
  if (!number?.isPossible()) return undefined;
  if (number.number === text) return number;
  const again = parse(number.number, undefined);
  return again?.number === number.number && again.isPossible() ? number : undefined;
}

const parse = (text: string, country: CountryCode | undefined): PhoneNumber | undefined =>
  parsePhoneNumberFromString(text, country ? { defaultCountry: country, extract: false } : { extract: false });

function lengthError(raw: string, digits: string, country: CountryCode | undefined): PhoneParseResult {
  const problem = validatePhoneNumberLength(digits, country);
  const where = country ? `a ${country} number` : 'its country';
  if (problem === 'TOO_SHORT' || digits.length < 5)
    return phoneError('too_short', raw, `has too few digits for ${where}; ${nameCountryAdvice}`);
  if (problem === 'TOO_LONG' || digits.length > 16)
    return phoneError('too_long', raw, `has too many digits for ${where}; ${nameCountryAdvice}`);
  return phoneError('wrong_length', raw, `has the wrong number of digits for ${where}; ${nameCountryAdvice}`);
}

const phoneError = (reason: PhoneErrorReason, raw: string, fault: string) => ({
  reason,
  detail: `"${raw.length > 60 ? `${raw.slice(0, 60)}...` : raw}" ${fault}`,
});
