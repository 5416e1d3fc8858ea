/** A value of several signs is put in brackets, so that what belongs together stays together. */
export const group = (text: string): string =>
  text.length > 40 || !/^(?:[\p{L}\p{M}\p{N}.,]*|\([^()]*\))$/u.test(text) ? `(${text})` : text;
/** A power, or a value above a sign. */
export const above = (text: string): string => (text === '' ? '' : `^${group(text)}`);
/** An index, or a value below a sign. */
export const below = (text: string): string => (text === '' ? '' : `_${group(text)}`);
