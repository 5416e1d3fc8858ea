/** Digits of other scripts: the codes of their zeros. Full-width digits are compatibility forms. */
const zeros = [0x0660, 0x06f0, 0x0966, 0x09e6, 0x0e50, 0x0ed0, 0x1040, 0x17e0];
const foreignDigit = new RegExp(`[${zeros.map((zero) => `\\u{${zero.toString(16)}}-\\u{${(zero + 9).toString(16)}}`).join('')}]`, 'gu');

/** Text of common letters alone is as it should be. */
const common =
  // oxlint-disable-next-line no-control-regex -- control characters are common, too
  /^[\u0000-\u009f\u00a1\u00a4-\u00a7\u00a9\u00ab-\u00ae\u00b0\u00b1\u00b6\u00b7\u00bb\u00bf-\u024f\u0370-\u03ff\u0400-\u052f\u2010-\u201f]*$/;

/** Text in one spelling for index and query: full-width and other compatibility forms as the usual letters, digits 0 to 9. */
export function toCommonText(text: string): string {
  if (common.test(text)) return text;
  return text
    .normalize('NFKC')
    .replaceAll(foreignDigit, (digit) => String(digit.charCodeAt(0) - zeros.findLast((zero) => zero <= digit.charCodeAt(0))!));
}
