/** How the note of a record begins that was not handled and will not be tried again by itself. */
export const givenUpPrefix = 'given_up:';
