export type PhoneErrorReason =
  | 'empty'
  | 'not_a_number'
  | 'letters'
  | 'scientific_notation'
  | 'phone_extension'
  | 'several_numbers'
  | 'all_zeros'
  | 'country_missing'
  | 'country_unknown'
  | 'not_of_country'
  | 'too_short'
  | 'too_long'
  | 'wrong_length';

/** `fault` is the text after the quoted value in the error message. */
export interface PhoneTextError {
  reason: PhoneErrorReason;
  message: string;
}

const separators = /:::|[;,|\n]|(?<=\d)\s+(?=\+)/;
const extensionWords =
  'extension|extn|ext|xtn|x|#|добавочный|доб|внутр|вн|durchwahl|dw|nst|poste|anexo|ramal|interno|int|wew|内線|內線|分机|分機|내선';
const extension = new RegExp(`\\d[^\\p{L}#]*(?:${extensionWords})[\\s.:=#№]*\\d{1,8}\\)?$`, 'iu');
/** Commas or semicolons and a few digits: a telephone dials the number, pauses, and dials the digits. */
const pauseBefore = '(?<![,;](?=[\\s,;]{0,10}(?:\\d{1,6}\\s*(?:[#,;|\\n]|$)|\\d+#)))';
const decimalCommaBefore = '(?<!,(?=\\d{1,15}\\s*[eEеЕ]\\s*\\+?\\d))';
/** The separators of several numbers in a cell. An extension stays with its number, so that the extension is found; so does a decimal place. */
export const separatorNotBeforeExtension = new RegExp(
  `(?:${separators.source})${pauseBefore}${decimalCommaBefore}(?!\\s*(?:${extensionWords})[\\s.:=\\d])`,
  'iu',
);
const minDigitsBeforePause = 7;

/** Whether a text is a number and, after pauses, the digits of an extension: `4155550199,,123#`, `415-555-0199;123`. */
function hasPauseExtension(text: string): boolean {
  const [number = '', ...parts] = text.split(/[,;]/);
  const dialled = parts.map((part) => part.trim()).filter((part) => part !== '');
  return (
    number.replace(/\D/g, '').length >= minDigitsBeforePause &&
    dialled.length > 0 &&
    dialled.every((part) => /^(?:\d{1,6}#?|\d+#)$/.test(part))
  );
}

/** Signs that people put between the digits of one number. */
export const formatting = /[\s.\-()[\]{}/·•]/g;
const invisible = /\p{Cf}|(?!\n)\p{Cc}/gu;
const dashes = /[\p{Pd}−ー]/gu;
const otherDigits = /[٠-٩۰-۹०-९০-৯๐-๙]/g;
const zeroCharCodes = ['٠', '۰', '०', '০', '๐'].map((zero) => zero.charCodeAt(0));
const toLatinDigit = (digit: string) => String(digit.charCodeAt(0) - (zeroCharCodes.findLast((zero) => zero <= digit.charCodeAt(0)) ?? 0));

/** Removes the decoration that spreadsheets and messaging systems put around a number (`p:` is Facebook's), and converts digits of every script. */
export function cleanPhoneText(raw: string): string {
  if (/^\+?\d+$/.test(raw)) return raw;
  const text = raw
    .trim()
    .replace(/^="(.*)"$/s, '$1')
    .replace(/^['"’‘`´]+|["]$/g, '');
  const plain = text
    .normalize('NFKC')
    .replace(/[^\S\n]/g, ' ')
    .replace(invisible, '')
    .replace(dashes, '-')
    .replace(otherDigits, toLatinDigit)
    .trim();
  return plain.replace(/^(?:whatsapp|tel|p):\s*/i, '').replace(/^(\+?\d{7,})[.,]0{1,2}$/, '$1');
}

/** Why a text, cleaned by `cleanPhoneText`, is not one dialable number; undefined when only the digits can tell. */
export function findPhoneTextError(text: string): PhoneTextError | undefined {
  if (text === '') return phoneTextError('empty', 'is empty; give a phone number');
  if (/^[+-]?\d+(?:[.,]\d+)?\s*[eEеЕ]\s*\+?\d{1,3}$/.test(text)) {
    return phoneTextError(
      'scientific_notation',
      'is a number that a spreadsheet has shortened and its digits are lost; format the column as text and export again',
    );
  }
  if (!/\d/.test(text)) return phoneTextError('not_a_number', 'is not a phone number; give one or leave it empty');
  if (extension.test(text) || hasPauseExtension(text))
    return phoneTextError('phone_extension', 'has an extension, which cannot be dialled; give the direct number');
  if (/\p{L}/u.test(text)) return phoneTextError('letters', 'has letters in it; write digits only, with + and the country code in front');
  if (separators.test(text)) return phoneTextError('several_numbers', 'holds more than one number; give one');
  return undefined;
}

const phoneTextError = (reason: PhoneErrorReason, sentence: string): PhoneTextError => ({ reason, message: sentence });
