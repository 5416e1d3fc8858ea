import { catalog } from '../database/shards.ts';
import type { Database } from '../database/client.ts';
import { enforceRate } from '../http/rate-limit.ts';
import { forbidden, rateLimited, unauthorized } from '../library/errors.ts';
import { randomToken, sha256Hex } from '../library/hash.ts';
import { Logger } from '../library/log.ts';
import { settingsOf } from '../settings.ts';
import { deviceIdOf, newDeviceMark } from './device-mark.ts';
import { furtherHandle } from './email-handles.ts';
import { countAttempt } from './login-failure-store.ts';
import { countFailure, countedFor, failuresOf, forgetTry, reserveTry, type Counted } from './login-throttle.ts';
import type { Failures } from './login-failure-store.ts';
import { networkOf } from './network-address.ts';
import { requireGoodPassword } from './password-policy.ts';
import { findPassword, hashPassword } from './passwords.ts';
import { requireSpace } from './require-space.ts';
import * as store from './store.ts';

export const sessionDays = 30;
const sessionMs = sessionDays * 86_400_000;
const signUpWindowMs = 3_600_000;
/** Of one e-mail address in an hour, since each may be a guess at a password. */
const signUpsPerEmail = 5;
/** Log-ins in 10 s from one place with one e-mail address, right or wrong. */
const burst = 10;

export interface SignedIn {
  token: string;
  user: store.UserRow;
  organization: store.OrganizationRow | null;
  /** What the browser is to keep, where it has none yet. */
  deviceMark: string | null;
}

/** Who asks to be let in. */
export interface Visitor {
  /** The network address; undefined when unknown. */
  address: string | undefined;
  /** What the browser has kept of an earlier log-in. */
  deviceMark: string | undefined;
}

export interface SignUp {
  email: string;
  password: string;
  name?: string | null | undefined;
  organization_name?: string | null | undefined;
}

/**
 * A new user, and an organization when one is named. The answer, and the time it takes, do not tell whether the address has signed up
 * before: with the password of then it is a log-in, with another it makes a further account.
 */
export async function signUp(bindings: Env, input: SignUp, visitor: Visitor, now: number): Promise<SignedIn> {
  if (settingsOf(bindings).SIGNUP !== 'open') throw forbidden('Sign-up is closed; ask the operator, who opens it with SIGNUP=open');
  requireGoodPassword('password', input.password, [input.email, input.name, input.organization_name]);
  const accounts = catalog(bindings);
  await boundSignUps(accounts, input.email, visitor.address, settingsOf(bindings).SIGNUPS_PER_HOUR, now);
  // Whoever has signed up before is refused, too: the answer must not tell them apart.
  if (input.organization_name) await requireSpace(bindings);
  const { user, isNew } = await takeAccount(accounts, input, now);
  const known = isNew ? undefined : await store.firstOrganization(accounts, user.id);
  const named = input.organization_name;
  const organization = known ?? (named ? await store.insertOrganization(accounts, user.id, named, now) : null);
  return openSession(bindings, user, organization, input.email, visitor, now);
}

/** The account of this address and password, made where there is none. */
async function takeAccount(accounts: Database, input: SignUp, now: number): Promise<{ user: store.UserRow; isNew: boolean }> {
  for (;;) {
    const [first, ...others] = await store.findUsersByEmail(accounts, input.email);
    const passwordHash = await hashPassword(input.password, first?.passwordHash);
    const same = [first, ...others].find((user) => user?.passwordHash === passwordHash);
    if (same) return { user: same, isNew: false };
    const email = first ? furtherHandle(input.email, `${passwordHash}${randomToken(8)}`) : input.email;
    const user = await store.insertUser(accounts, { email, name: input.name ?? null, passwordHash, createdAt: now });
    // Another request with this address was faster.
    if (user) return { user, isNew: true };
  }
}

/** Whoever cannot be told apart by address counts as one. */
async function boundSignUps(accounts: Database, email: string, address: string | undefined, most: number, now: number): Promise<void> {
  const network = `signup:${address ? networkOf(address) : 'unknown'}`;
  const counted = await countAttempt(accounts, [network, `signup-email:${email}`], now, now + signUpWindowMs);
  for (const { subject, count, windowEndsAt } of counted) {
    const isNetwork = subject === network;
    if (count <= (isNetwork ? most : signUpsPerEmail)) continue;
    const seconds = Math.max(1, Math.ceil((windowEndsAt - now) / 1000));
    throw rateLimited(
      isNetwork
        ? `More than ${most} sign-ups in an hour from your network address (SIGNUPS_PER_HOUR); try again in ${seconds} s`
        : `More than ${signUpsPerEmail} sign-ups in an hour with this e-mail address; log in, or try again in ${seconds} s`,
      seconds,
    );
  }
}

/** Throws 401, the same for an unknown address and a wrong password, and 429 where either was tried too often. */
export async function logIn(
  bindings: Env,
  { email, password }: { email: string; password: string },
  visitor: Visitor,
  now: number,
): Promise<SignedIn> {
  const accounts = catalog(bindings);
  const { address } = visitor;
  const deviceId = await deviceIdOf(settingsOf(bindings).SIGNING_KEY, email, visitor.deviceMark);
  const asStranger = countedFor(email, { address, deviceId }, false);
  await boundBurst(bindings, asStranger[0]!, now);
  const [failures, here] = await accounts.batch([
    failuresOf(accounts, asStranger, now),
    store.isLoggedInFrom(accounts, email, address ? networkOf(address) : ''),
  ]);
  const counted = countedFor(email, { address, deviceId }, here!.length > 0);
  const own = (failures as unknown as Failures[]).filter(({ subject }) => counted.some((one) => one.subject === subject));
  const isReserved = await reserveTry(accounts, counted, own, now);
  const users = await store.findUsersByEmail(accounts, email);
  const user =
    users[
      await findPassword(
        password,
        users.map(({ passwordHash }) => passwordHash),
      )
    ];
  if (!user) {
    if (!isReserved) await countFailure(accounts, counted, now);
    throw unauthorized('Wrong e-mail address or password');
  }
  if (isReserved) await forgetTry(counted, accounts);
  const organization = (await store.firstOrganization(accounts, user.id)) ?? null;
  return openSession(bindings, user, organization, email, visitor, now);
}

/** Before a failure is written down, others sent with it have passed: this many, as far as is known without asking. */
async function boundBurst(bindings: Env, { subject }: Counted, now: number): Promise<void> {
  const beyond = `More than ${burst} log-ins in 10 seconds`;
  await enforceRate(bindings, { key: `login:${subject}`, limit: burst, beyond }, now, new Logger(settingsOf(bindings).LOG_LEVEL, {}));
}

async function openSession(
  bindings: Env,
  user: store.UserRow,
  organization: store.OrganizationRow | null,
  email: string,
  { address, deviceMark }: Visitor,
  now: number,
): Promise<SignedIn> {
  const { SIGNING_KEY } = settingsOf(bindings);
  const token = `vas_${randomToken(32)}`;
  await store.insertSession(catalog(bindings), {
    tokenHash: sha256Hex(token),
    userId: user.id,
    organizationId: organization?.id ?? null,
    createdAt: now,
    expiresAt: now + sessionMs,
    network: address ? networkOf(address) : null,
  });
  const isKnown = (await deviceIdOf(SIGNING_KEY, email, deviceMark)) !== null;
  return { token, user, organization, deviceMark: isKnown ? null : await newDeviceMark(SIGNING_KEY, email) };
}
