// A plus in a query string or form is a blank, unless it is escaped. Many senders do not escape the plus of a phone number.

/** A value of a decoded query string, whose first blank is the plus of a phone number. */
export const restorePlus = (value: string): string => value.replace(/^ (?=[\d(])/, '+');

/** A query string or form as it came, with each plus escaped with which a number begins. A blank is not written there. */
export const escapeLeadingPlus = (encoded: string): string => encoded.replaceAll(/(?<==)\+(?=[\d(]|%28)/g, '%2B');
