import { catalog } from '../../database/shards.ts';
import type { Database } from '../../database/client.ts';
import { enforceRate } from '../../http/middleware/rate-limit.ts';
import { forbidden, rateLimited, unauthorized } from '../../library/errors.ts';
import { randomToken, sha256Hex } from '../../library/security/hash.ts';
import { Logger } from '../../library/platform/log.ts';
import { getSettings } from '../../settings.ts';
import { verifyDeviceToken, newDeviceToken } from './device-cookie.ts';
import { toDuplicateHandle } from '../members/email-handles.ts';
import { countSignUpAttempt } from './login-failure-store.ts';
import { countFailure, throttleSubjects, selectFailures, clearFailures, reserveLogin, type ThrottleSubject } from './login-throttle.ts';
import { toNetworkPrefix } from '../../http/network-prefix.ts';
import { requireStrongPassword } from '../passwords/require-strong-password.ts';
import { findMatchingHash, hashPassword } from '../passwords/hash-password.ts';
import { chooseShard } from '../organizations/choose-shard.ts';
import * as store from '../store.ts';

export const sessionDays = 30;
const sessionMs = sessionDays * 86_400_000;
const maxUserAgentCharacters = 200;
const signUpWindowMs = 3_600_000;
/** Sign-ups of one e-mail address in an hour. Each may be a guess at a password. */
const maxSignUpsPerEmail = 5;
/** Log-ins in 10 s from one place with one e-mail address, right or wrong. */
const maxLoginsPerWindow = 10;

export interface SignedIn {
  token: string;
  user: store.UserRow;
  organization: store.OrganizationRow | null;
  /** The device token for a browser that has none yet. */
  deviceToken: string | null;
}

/** The origin of a sign-up or log-in. */
export interface Visitor {
  /** The network address; undefined when unknown. */
  address: string | undefined;
  /** The device token that the browser kept from an earlier log-in. */
  deviceToken: string | undefined;
  /** The program, as it names itself. */
  userAgent: string | undefined;
}

export interface SignUpInput {
  email: string;
  password: string;
  name?: string | null | undefined;
  organization_name?: string | null | undefined;
}

/**
 * Creates a user, and an organization when one is named. Neither the answer nor its time shows whether the address has signed up before:
 * with the earlier password the sign-up is a log-in, with another password it creates a further account.
 */
export async function signUp(bindings: Env, input: SignUpInput, visitor: Visitor, now: number): Promise<SignedIn> {
  if (getSettings(bindings).SIGNUP !== 'open') throw forbidden('Sign-up is closed; ask the operator, who opens it with SIGNUP=open');
  await requireStrongPassword('password', input.password, [input.email, input.name, input.organization_name]);
  const accounts = catalog(bindings);
  await limitSignUps(accounts, input.email, visitor.address, getSettings(bindings).SIGNUPS_PER_HOUR, now);
  // An address that has signed up before is refused, too: the answer must not tell the two apart.
  const shard = input.organization_name ? await chooseShard(bindings) : 0;
  const { user, isNew } = await findOrCreateAccount(accounts, input, now);
  const known = isNew ? undefined : await store.findFirstOrganization(accounts, user.id);
  const named = input.organization_name;
  const organization = known ?? (named ? await store.insertOrganization(accounts, user.id, { name: named, shard }, now) : null);
  return createSession(bindings, user, organization, input.email, visitor, now);
}

/** The account with this address and password; created when there is none. */
async function findOrCreateAccount(
  accounts: Database,
  input: Pick<SignUpInput, 'email' | 'password' | 'name'>,
  now: number,
): Promise<{ user: store.UserRow; isNew: boolean }> {
  for (;;) {
    const { user: known, account } = await findAccount(accounts, input, now);
    if (known) return { user: known, isNew: false };
    const user = await store.insertUser(accounts, account);
    // Another request with this address was faster.
    if (user) return { user, isNew: true };
  }
}

/** The account with this address and password; where there is none, the row of a new one, which is not written. Takes as long for both. */
export async function findAccount(
  accounts: Database,
  { email, password, name }: Pick<SignUpInput, 'email' | 'password' | 'name'>,
  now: number,
): Promise<{ user: store.UserRow; account: null } | { user: null; account: store.NewUser }> {
  const known = await store.findUsersByEmail(accounts, email);
  const passwordHash = await hashPassword(password, known[0]?.passwordHash);
  const user = known.find((one) => one.passwordHash === passwordHash);
  if (user) return { user, account: null };
  const handle = known.length > 0 ? toDuplicateHandle(email, `${passwordHash}${randomToken(8)}`) : email;
  return { user: null, account: { email: handle, name: name ?? null, passwordHash, createdAt: now } };
}

/** Visitors without a network address count as one. */
async function limitSignUps(accounts: Database, email: string, address: string | undefined, most: number, now: number): Promise<void> {
  const network = `signup:${address ? toNetworkPrefix(address) : 'unknown'}`;
  const counted = await countSignUpAttempt(accounts, [network, `signup-email:${email}`], now, now + signUpWindowMs);
  for (const { subject, count, windowEndsAt } of counted) {
    const isNetwork = subject === network;
    if (count <= (isNetwork ? most : maxSignUpsPerEmail)) continue;
    const seconds = Math.max(1, Math.ceil((windowEndsAt - now) / 1000));
    throw rateLimited(
      isNetwork
        ? `More than ${most} sign-ups in an hour from your network address (SIGNUPS_PER_HOUR); try again in ${seconds} s`
        : `More than ${maxSignUpsPerEmail} sign-ups in an hour with this e-mail address; log in, or try again in ${seconds} s`,
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
  const deviceId = await verifyDeviceToken(getSettings(bindings).SIGNING_KEY, email, visitor.deviceToken);
  const asStranger = throttleSubjects(email, { address, deviceId }, false);
  await limitLoginBurst(bindings, asStranger[0]!, now);
  const [failures, here] = await accounts.batch([
    selectFailures(accounts, asStranger, now),
    store.selectSessionFromNetwork(accounts, email, address ? toNetworkPrefix(address) : ''),
  ]);
  const counted = throttleSubjects(email, { address, deviceId }, here!.length > 0);
  const own = failures.filter(({ subject }) => counted.some((one) => one.subject === subject));
  const isReserved = await reserveLogin(accounts, counted, own, now);
  const users = await store.findUsersByEmail(accounts, email);
  const user =
    users[
      await findMatchingHash(
        password,
        users.map(({ passwordHash }) => passwordHash),
      )
    ];
  if (!user) {
    if (!isReserved) await countFailure(accounts, counted, now);
    throw unauthorized('Wrong e-mail address or password');
  }
  if (isReserved) await clearFailures(counted, accounts);
  const organization = (await store.findFirstOrganization(accounts, user.id)) ?? null;
  return createSession(bindings, user, organization, email, visitor, now);
}

/**
 * Limits log-ins that are sent together, before their failures are stored: to this many, as far as this isolate and the rate limiter know.
 */
export async function limitLoginBurst(bindings: Env, { subject }: ThrottleSubject, now: number): Promise<void> {
  const beyond = `More than ${maxLoginsPerWindow} log-ins in 10 seconds`;
  await enforceRate(
    bindings,
    { key: `login:${subject}`, limit: maxLoginsPerWindow, exceededMessage: beyond },
    now,
    new Logger(getSettings(bindings).LOG_LEVEL, {}),
  );
}

export async function createSession(
  bindings: Env,
  user: store.UserRow,
  organization: store.OrganizationRow | null,
  email: string,
  { address, deviceToken: deviceMark, userAgent }: Visitor,
  now: number,
): Promise<SignedIn> {
  const { SIGNING_KEY } = getSettings(bindings);
  const token = `vas_${randomToken(32)}`;
  await store.insertSession(catalog(bindings), {
    tokenHash: sha256Hex(token),
    userId: user.id,
    organizationId: organization?.id ?? null,
    createdAt: now,
    expiresAt: now + sessionMs,
    network: address ? toNetworkPrefix(address) : null,
    userAgent: userAgent?.slice(0, maxUserAgentCharacters) ?? null,
  });
  const isKnown = (await verifyDeviceToken(SIGNING_KEY, email, deviceMark)) !== null;
  return { token, user, organization, deviceToken: isKnown ? null : await newDeviceToken(SIGNING_KEY, email) };
}
