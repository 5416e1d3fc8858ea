/** How text stands: on the line, above it or below it. The sign is written before digits that stand there. */
export type Raised = '' | '^' | '_';

/**
 * The sign between digits and raised digits, without which 10 to the 6th would be read as 106; empty between other texts, as in m2 and 1st. `before`: the last piece of
 * the text, since the whole would be copied for each piece.
 */
export const raisedSign = (before: string, raised: Raised, text: string): Raised =>
  raised !== '' && /^[-+\u2212]?\d/.test(text) && /\d/.test(before.at(-1) ?? '') ? raised : '';
