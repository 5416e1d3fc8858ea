/** As every store, header and address takes it: half a surrogate pair is U+FFFD, and NUL, at which some readers stop, is left out. */
export const cleanText = (text: string): string => (isClean(text) ? text : text.toWellFormed().replaceAll('\0', ''));

export const isClean = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** As one part of an address. Text that was cut or put together here may be ill-formed again, at which the built-in function throws. */
// oxlint-disable-next-line no-restricted-globals -- the one place that gives it clean text
export const percentEncoded = (text: string): string => encodeURIComponent(cleanText(text));

/** A form's fields, cleaned. */
export const formFields = (text: string): URLSearchParams => new URLSearchParams(cleanText(text).replaceAll('%00', ''));
