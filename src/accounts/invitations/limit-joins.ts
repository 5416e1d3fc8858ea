import { catalog } from '../../database/shards.ts';
import { toNetworkPrefix } from '../../http/network-prefix.ts';
import { rateLimited } from '../../library/errors.ts';
import { getSettings } from '../../settings.ts';
import { verifyDeviceToken } from '../sign-in/device-cookie.ts';
import { countSignUpAttempt } from '../sign-in/login-failure-store.ts';
import { reserveGuess, throttleSubjects, type ThrottleSubject } from '../sign-in/login-throttle.ts';
import { limitLoginBurst, type Visitor } from '../sign-in/sign-in.ts';
import * as store from '../store.ts';

const windowMs = 3_600_000;

/**
 * Admits somebody who accepts an invitation with an address and a password, or throws 429. That is a guess at the passwords of the accounts of the
 * address, so it counts as a failed log-in before its result is known. The failures of a network are left alone, since all people of an office may
 * join on one day: a network accepts as many in an hour as it may sign up. Returns what to clear if the password is right.
 */
export async function limitJoins(bindings: Env, email: string, visitor: Visitor, now: number): Promise<ThrottleSubject[]> {
  const accounts = catalog(bindings);
  const network = visitor.address ? toNetworkPrefix(visitor.address) : null;
  await limitNetwork(bindings, network ?? 'unknown', now);
  const deviceId = await verifyDeviceToken(getSettings(bindings).SIGNING_KEY, email, visitor.deviceToken);
  const isKnownNetwork = (await accounts.first(store.selectSessionFromNetwork(accounts, email, network ?? ''))) !== null;
  const subjects = throttleSubjects(email, { address: visitor.address, deviceId }, isKnownNetwork);
  await limitLoginBurst(bindings, subjects[0]!, now);
  const counted = subjects.filter(({ subject }) => subject !== `address:${network}`);
  await reserveGuess(accounts, counted, now);
  return counted;
}

/** Counts each try, whatever comes of it: the limit tells nothing about an address. */
async function limitNetwork(bindings: Env, network: string, now: number): Promise<void> {
  const most = getSettings(bindings).SIGNUPS_PER_HOUR;
  const [counted] = await countSignUpAttempt(catalog(bindings), [`join:${network}`], now, now + windowMs);
  if (counted!.count <= most) return;
  const seconds = Math.max(1, Math.ceil((counted!.windowEndsAt - now) / 1000));
  throw rateLimited(
    `More than ${most} accepted invitations in an hour from your network address (SIGNUPS_PER_HOUR); log in and join, or try again in ${seconds} s`,
    seconds,
  );
}
