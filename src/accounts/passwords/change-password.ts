import { catalog } from '../../database/shards.ts';
import { invalidAt, notFound } from '../../library/errors.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { emailFromHandle } from '../members/email-handles.ts';
import { countFailure, selectFailures, clearFailures, reserveLogin } from '../sign-in/login-throttle.ts';
import { requireStrongPassword } from './require-strong-password.ts';
import { hashPassword, verifyPassword } from './hash-password.ts';
import * as store from '../store.ts';

/** Changes the password of a session's user, who gives the current one, and ends the user's other sessions. Throws 422 and 429. */
export async function changePassword(
  bindings: Env,
  session: { token: string; userId: number },
  { current_password: current, new_password: next }: { current_password: string; new_password: string },
  now: number,
): Promise<void> {
  const accounts = catalog(bindings);
  const tokenHash = sha256Hex(session.token);
  const user = await requirePassword(bindings, session.userId, current, 'current_password', now);
  if (next === current) throw invalidAt(['body', 'new_password'], 'Is the password of before; choose another');
  const organizations = await store.listOrganizationsOfUser(accounts, user.id);
  await requireStrongPassword('new_password', next, [emailFromHandle(user.email), user.name, ...organizations.map(({ name }) => name)]);
  const passwordHash = await hashUniquePassword(bindings, user, next);
  await store.setPassword(accounts, { userId: user.id, passwordHash, keptToken: tokenHash });
}

/** The user, after the password was verified. A stolen session allows no more guesses at the password than the log-in does. Throws 422 and 429. */
export async function requirePassword(bindings: Env, userId: number, password: string, field: string, now: number): Promise<store.UserRow> {
  const accounts = catalog(bindings);
  const counted = [{ subject: `user:${userId}`, free: 5 }];
  const known = await accounts.all(selectFailures(accounts, counted, now));
  const isReserved = await reserveLogin(accounts, counted, known, now);
  const user = await store.findUser(accounts, userId);
  if (!user) throw notFound('User');
  if (!(await verifyPassword(password, user.passwordHash))) {
    if (!isReserved) await countFailure(accounts, counted, now);
    throw invalidAt(['body', field], 'Is not your password; try again, or ask an admin of your organization for a link that resets it');
  }
  if (isReserved) await clearFailures(counted, accounts);
  return user;
}

/** Hashes a password with the salt of its e-mail address. Throws 422 when another account of the address has this password: the password tells accounts of one address apart. */
export async function hashUniquePassword(bindings: Env, user: store.UserRow, password: string): Promise<string> {
  const accounts = await store.findUsersByEmail(catalog(bindings), emailFromHandle(user.email));
  const passwordHash = await hashPassword(password, accounts[0]?.passwordHash);
  if (accounts.some((account) => account.id !== user.id && account.passwordHash === passwordHash))
    throw invalidAt(['body', 'new_password'], 'Cannot be used for this e-mail address; choose another');
  return passwordHash;
}
