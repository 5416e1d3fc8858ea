import { format } from 'numfmt';

/** The built-in formats, which have a number and no pattern (ECMA-376, part 1, 18.8.30). Localized dates are written as ISO. */
export const builtInFormats: Record<number, string> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0;(#,##0)',
  38: '#,##0;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
};
/** Excel's maximum. A longer format would be parsed for every cell. */
const maxPatternLength = 255;

/** The pattern that a workbook gives; the General format where it is too long. */
export const toPattern = (code = 'General'): string => (code.length > maxPatternLength ? 'General' : code);

/** Above, a number of the workbook has lost digits itself. */
const maxKeptDigits = 15;
const maxPlainNumber = 10 ** maxKeptDigits;

/** Shows a number by a pattern, with all its digits. */
export function formatNumber(value: number, code: string): string {
  const pattern = toPattern(code);
  if (pattern === 'General') return showGeneral(value);
  if (isScientific(pattern) && Number.isInteger(value) && Math.abs(value) < maxPlainNumber) return String(value);
  return format(pattern, value, { throws: false, invalid: String(value) }).trim();
}

/** Whether a pattern shows a date or a time. */
export const isDate = (pattern: string): boolean => /[ymdhs]/i.test(pattern.replace(/"[^"]*"|\\.|\[[^\]]*\]|General/gi, ''));

/** The program's General format shortens numbers to the width of a column. */
function showGeneral(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const kept = Number(value.toPrecision(maxKeptDigits));
  return Number.isInteger(kept) && Math.abs(kept) < 1e21 ? BigInt(kept).toString() : String(kept).toUpperCase();
}

/** Programs give this format to long numbers by themselves. */
const isScientific = (pattern: string): boolean => /^[0#.,]*E\+[0#]+$/i.test(pattern);
