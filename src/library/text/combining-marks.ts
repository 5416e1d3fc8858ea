/** As the Stream-Safe Text Format has it (UAX #15, section 13). */
const stackedMarksPattern = /(\p{M}{30})\p{M}+/gu;

/** Text in which no letter carries more than 30 marks: `normalize` puts the marks of a letter in order, in the square of their number. */
export const limitCombiningMarks = (text: string): string => text.replace(stackedMarksPattern, '$1');
