/** Text that every store, header and address accepts: half a surrogate pair becomes U+FFFD, and NUL is removed. */
export const cleanText = (text: string): string => (isClean(text) ? text : text.toWellFormed().replaceAll('\0', ''));

export const isClean = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Encodes one part of an address. Cut or joined text may be ill-formed, at which the built-in function throws. */
// oxlint-disable-next-line no-restricted-globals -- the one place that gives it clean text
export const percentEncoded = (text: string): string => encodeURIComponent(cleanText(text));

/** A form's fields, cleaned. */
export const formFields = (text: string): URLSearchParams => new URLSearchParams(cleanText(text).replaceAll('%00', ''));

/** The limit of the Stream-Safe Text Format (UAX #15, section 13). */
const stackedMarksPattern = /(\p{M}{30})\p{M}+/gu;

/** Text in which no letter carries more than 30 marks: `normalize` puts the marks of a letter in order, in the square of their number. */
export const limitCombiningMarks = (text: string): string => text.replace(stackedMarksPattern, '$1');

// Everything that is no letter, digit, sign or space: control characters, and the mark that the search index uses itself.
const unusable = /[\p{Cc}\uE000]/gu;

/** One line of text as it is stored: well-formed, composed, without control characters, single spaces, none at the ends. */
export const cleanLine = (text: string): string =>
  limitCombiningMarks(text).toWellFormed().normalize('NFC').replace(/\s+/g, ' ').replace(unusable, '').trim();
