import { isEqualConstantTime, randomToken, sha256Hex } from '../../library/security/hash.ts';
import { signParts } from '../../library/security/signed-paths.ts';

/** What a challenge is for: a passkey of this person, or a log-in of whoever has one. */
export type ChallengePurpose = `add:${number}` | 'log_in';

export const challengeMinutes = 5;

/**
 * A challenge that needs no row until it is answered: `{id}.{end in epoch ms}.{signature}`. An answer is taken once, see `useOnce`. Nobody can
 * fill the database by asking for challenges.
 */
export async function newChallenge(signingKey: string, purpose: ChallengePurpose, now: number): Promise<string> {
  const [id, end] = [randomToken(16), String(now + challengeMinutes * 60_000)];
  return [id, end, await sign(signingKey, purpose, id, end)].join('.');
}

/** Until when the challenge of this purpose can be answered, in epoch ms; null: it was not made here, is for something else, or is over. */
export async function challengeEnd(signingKey: string, purpose: ChallengePurpose, challenge: string, now: number): Promise<number | null> {
  const [id, end, signature, ...more] = challenge.split('.');
  if (!id || !end || !signature || more.length > 0 || !(Number(end) > now)) return null;
  return isEqualConstantTime(signature, await sign(signingKey, purpose, id, end)) ? Number(end) : null;
}

/** The form in which the database knows an answered challenge. */
export const challengeHash = (challenge: string): string => sha256Hex(challenge);

const sign = (signingKey: string, purpose: ChallengePurpose, id: string, end: string): Promise<string> =>
  signParts(signingKey, ['passkey', purpose, id, end]);
