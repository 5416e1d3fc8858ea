import { limitCombiningMarks } from '../../library/text/clean-text.ts';

const removeAccents = (text: string) =>
  limitCombiningMarks(text)
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[łøđßæœıþð]/g, (letter) => plainLetters[letter] ?? letter);

const plainLetters: Record<string, string> = { ł: 'l', ø: 'o', đ: 'd', ß: 'ss', æ: 'ae', œ: 'oe', ı: 'i', þ: 'th', ð: 'd' };

/** The key of a header without case, accents, spaces and signs: `E-Mail 1 - Value` is `email1value`. */
export const toHeaderKey = (header: string): string => removeAccents(header).replace(/[^\p{L}\p{N}]/gu, '');

/** The unique keys of headers separated by commas, in their order. */
export const toHeaderKeys = (list: string): string[] => [
  ...new Set(
    list
      .split(',')
      .map(toHeaderKey)
      .filter((key) => key !== ''),
  ),
];

/** A header as a custom field key: `Default Address Phone` is `default_address_phone`, `birthDate` is `birth_date`. Other scripts stay. */
export function toSnakeCaseKey(header: string): string {
  const words = limitCombiningMarks(header)
    .normalize('NFC')
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1_$2');
  const latin = /^[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]*$/u.test(words) ? removeAccents(words) : words.toLowerCase();
  return latin.replace(/[^\p{L}\p{M}\p{N}]+/gu, '_').replace(/^_+|_+$/g, '');
}

/** Whether a header is the beginning of a web page or of XML, which programs export under the name of a table. */
export const isMarkup = (header: string): boolean => /^<(?:!doctype|html|table|\?xml)\b/i.test(header);
