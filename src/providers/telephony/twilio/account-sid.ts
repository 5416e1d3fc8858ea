/** Explains what is wrong with an account SID of Twilio; null: it is valid. */
export const accountSidProblem = (value: string): string | null => {
  if (/^AC[0-9A-Za-z]+$/.test(value)) return null;
  return value.startsWith('SK')
    ? 'Is the SID of an API key; give the Account SID, which begins with AC, and its auth token'
    : 'Is no Account SID, which is AC and 32 hexadecimal digits; it stands beside the auth token in the Twilio console';
};
