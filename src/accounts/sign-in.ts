import { catalog } from '../database/shards.ts';
import type { Database } from '../database/client.ts';
import { conflict, forbidden, rateLimited, unauthorized } from '../library/errors.ts';
import { randomToken, sha256Hex } from '../library/hash.ts';
import { settingsOf } from '../settings.ts';
import { networkOf } from './network-address.ts';
import { hashPassword, unknownUserHash, verifyPassword } from './passwords.ts';
import * as store from './store.ts';

export const sessionDays = 30;
const sessionMs = sessionDays * 86_400_000;
const windowMs = 15 * 60_000;
const signUpWindowMs = 3_600_000;
const failuresPerEmail = 10;
const failuresPerAddress = 50;

export interface SignedIn {
  token: string;
  user: store.UserRow;
  organization: store.OrganizationRow | null;
}

export interface SignUp {
  email: string;
  password: string;
  name?: string | null | undefined;
  organization_name?: string | null | undefined;
}

/** A new user, and an organization when one is named. `address` is the network address of the caller; undefined when unknown. */
export async function signUp(bindings: Env, input: SignUp, address: string | undefined, now: number): Promise<SignedIn> {
  if (settingsOf(bindings).SIGNUP !== 'open') throw forbidden('Sign-up is closed; ask the operator, who opens it with SIGNUP=open');
  const accounts = catalog(bindings);
  await boundSignUps(accounts, address, settingsOf(bindings).SIGNUPS_PER_HOUR, now);
  const passwordHash = await hashPassword(input.password);
  const user = await store.insertUser(accounts, { email: input.email, name: input.name ?? null, passwordHash, createdAt: now });
  if (!user) throw conflict('This e-mail address is taken; log in instead');
  const organization = input.organization_name ? await store.insertOrganization(accounts, user.id, input.organization_name, now) : null;
  return { token: await openSession(accounts, user.id, organization?.id ?? null, now), user, organization };
}

/** Whoever cannot be told apart by address counts as one. A window of failed sign-ins holds these, too. */
async function boundSignUps(accounts: Database, address: string | undefined, most: number, now: number): Promise<void> {
  const subject = `signup:${address ? networkOf(address) : 'unknown'}`;
  const [counted] = await store.countAttempt(accounts, [subject], now, now + signUpWindowMs);
  if (counted!.count <= most) return;
  const seconds = Math.max(1, Math.ceil((counted!.windowEndsAt - now) / 1000));
  throw rateLimited(
    `More than ${most} sign-ups in an hour from your network address (SIGNUPS_PER_HOUR); try again in ${seconds} s`,
    seconds,
  );
}

/** `address` is the network address of the caller, which bounds guessing over many e-mail addresses; undefined when unknown. */
export async function logIn(
  bindings: Env,
  input: { email: string; password: string },
  address: string | undefined,
  now: number,
): Promise<SignedIn> {
  const accounts = catalog(bindings);
  const subjects = [`email:${input.email}`, ...(address ? [`address:${networkOf(address)}`] : [])];
  const counted = await store.countAttempt(accounts, subjects, now, now + windowMs);
  const tooMany = counted.find(({ subject, count }) => count > (subject.startsWith('email:') ? failuresPerEmail : failuresPerAddress));
  if (tooMany) throw tooManyAttempts(tooMany.windowEndsAt - now);
  const user = await store.findUserByEmail(accounts, input.email);
  const isRight = await verifyPassword(input.password, user?.passwordHash ?? unknownUserHash);
  if (!user || !isRight) throw unauthorized('Wrong e-mail address or password');
  await store.uncountAttempt(accounts, subjects);
  const organization = (await store.firstOrganization(accounts, user.id)) ?? null;
  return { token: await openSession(accounts, user.id, organization?.id ?? null, now), user, organization };
}

function tooManyAttempts(waitMs: number) {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return rateLimited(`Too many failed sign-ins; try again in ${seconds} s`, seconds);
}

async function openSession(accounts: Database, userId: number, organizationId: number | null, now: number): Promise<string> {
  const token = `vas_${randomToken(32)}`;
  await store.insertSession(accounts, { tokenHash: sha256Hex(token), userId, organizationId, createdAt: now, expiresAt: now + sessionMs });
  return token;
}
