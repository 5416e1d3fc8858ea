import type { Database } from '../database/client.ts';
import { toNetworkPrefix } from '../http/network-prefix.ts';
import { countSignUpAttempt, type SignUpAttempts } from './sign-in/login-failure-store.ts';

const windowMs = 3_600_000;

/** Requests without a network address count as one network. */
export const toNetworkSubject = (address: string | undefined): string => (address ? toNetworkPrefix(address) : 'unknown');

/** Counts a mail for each subject of `most`, which has the mails of an hour. Returns a subject that has had more; undefined: the mail may be sent. */
export async function countMail(catalog: Database, most: Record<string, number>, now: number): Promise<SignUpAttempts | undefined> {
  const counted = await countSignUpAttempt(catalog, Object.keys(most), now, now + windowMs);
  return counted.find(({ subject, count }) => count > most[subject]!);
}
