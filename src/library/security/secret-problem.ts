/** Why a secret cannot travel in a header, which accepts only printable ASCII; null: it can. */
export const secretProblem = (value: string): string | null =>
  /^[\x21-\x7e]+$/.test(value) ? null : 'Holds a character that no credential has; copy it again from the console of the provider';
