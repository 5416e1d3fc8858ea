/** The message about a value that is no text. */
export const textProblem = ({ input }: { input?: unknown }): string => (input === undefined ? 'Is missing; give text' : 'Must be text');
