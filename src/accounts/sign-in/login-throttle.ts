import type { Database, Statement } from '../../database/client.ts';
import { rateLimited } from '../../library/errors.ts';
import * as store from './login-failure-store.ts';
import { toNetworkPrefix } from '../../http/network-prefix.ts';

/** The origin of a log-in. */
export interface LoginOrigin {
  /** The network address; undefined when unknown. */
  address: string | undefined;
  /** The id of a device from which this e-mail address has logged in before; null: the device is unknown. */
  deviceId: string | null;
}

/** A subject for which failures are counted, and the number of free failures. Each failure beyond doubles the wait before the next try. */
export interface ThrottleSubject {
  subject: string;
  free: number;
}

const freeFailuresBySubject = { pair: 5, device: 5, email: 20, address: 50 };
const firstWaitMs = 1000;
const maxWaitMs = 15 * 60_000;
/** How long failures are remembered after the last one. */
const failureTtlMs = 24 * 3_600_000;

/**
 * The subjects for which a failure counts. Failures of strangers slow only strangers: a known device has its own count, and a network from which
 * the e-mail address is logged in is exempt from the count of all networks together.
 */
export function throttleSubjects(email: string, { address, deviceId }: LoginOrigin, isKnownNetwork: boolean): ThrottleSubject[] {
  if (deviceId) return [{ subject: `device:${deviceId}`, free: freeFailuresBySubject.device }];
  const network = address ? toNetworkPrefix(address) : null;
  return [
    { subject: `pair:${email}|${network ?? 'unknown'}`, free: freeFailuresBySubject.pair },
    ...(isKnownNetwork ? [] : [{ subject: `email:${email}`, free: freeFailuresBySubject.email }]),
    ...(network ? [{ subject: `address:${network}`, free: freeFailuresBySubject.address }] : []),
  ];
}

/** Epoch ms before which `subject` may not be tried again. */
function nextAttemptAt({ failures, lastFailedAt }: store.LoginFailures, free: number): number {
  if (failures < free) return 0;
  return lastFailedAt + Math.min(maxWaitMs, firstWaitMs * 2 ** Math.min(failures - free, 20));
}

/**
 * Admits a log-in, or throws 429. After earlier failures, a log-in is counted before its result is known, so that guesses sent together are
 * all counted. Returns whether this log-in was counted.
 */
export async function reserveLogin(
  catalog: Database,
  counted: ThrottleSubject[],
  known: store.LoginFailures[],
  now: number,
): Promise<boolean> {
  requireAttemptAllowed(counted, known, now);
  if (!known.length) return false;
  await reserveGuess(catalog, counted, now);
  return true;
}

/** Counts a guess at a password before its result is known, so that guesses sent together are all counted. Throws 429. */
export async function reserveGuess(catalog: Database, counted: ThrottleSubject[], now: number): Promise<void> {
  const rules = { firstWaitMs, maxWaitMs, rememberedMs: failureTtlMs };
  if ((await store.reserveAttempt(catalog, counted, rules, now)).length) return;
  requireAttemptAllowed(counted, await catalog.all(selectFailures(catalog, counted, now)), now);
}

function requireAttemptAllowed(counted: ThrottleSubject[], known: store.LoginFailures[], now: number): void {
  const free = new Map(counted.map((one) => [one.subject, one.free]));
  const waitMs = Math.max(
    0,
    ...known.filter(({ subject }) => free.has(subject)).map((row) => nextAttemptAt(row, free.get(row.subject)!) - now),
  );
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1000);
  throw rateLimited(`Too many failed log-ins; try again in ${seconds} s, or from a device on which you have logged in before`, seconds);
}

/** The remembered failures of the subjects. */
export const selectFailures = (catalog: Database, counted: ThrottleSubject[], now: number): Statement<store.LoginFailures> =>
  store.readFailures(
    catalog,
    counted.map(({ subject }) => subject),
    now,
    failureTtlMs,
  );

export const countFailure = (catalog: Database, counted: ThrottleSubject[], now: number): Promise<void> =>
  store.countFailures(
    catalog,
    counted.map(({ subject }) => subject),
    now,
    failureTtlMs,
  );

/** After a correct password: deletes the failures of this origin, and takes back this attempt's count elsewhere. */
export const clearFailures = ([own, ...others]: ThrottleSubject[], catalog: Database): Promise<void> =>
  store.undoFailures(
    catalog,
    own!.subject,
    others.map(({ subject }) => subject),
  );
