/** The first e-mail address in a cell: that of `Ada <ada@example.org>`, or of several with commas. Empty: there is none. */
export const findEmail = (cell: string): string => /(?<![^\s@<>;,:])[^\s@<>;,:]+@[^\s@<>;,]+/.exec(cell)?.[0] ?? '';
