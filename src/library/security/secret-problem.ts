/** What is wrong with a secret that travels in a header, where only printable ASCII may stand; null: nothing. */
export const secretProblem = (value: string): string | null =>
  /^[\x21-\x7e]+$/.test(value) ? null : 'Holds a character that no credential has; copy it again from the console of the provider';
