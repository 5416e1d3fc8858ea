import type { z } from '@hono/zod-openapi';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { catalog } from '../../database/shards.ts';
import { conflict, invalidAt, notFound } from '../../library/errors.ts';
import { nullableTimestamp, toTimestamp } from '../../library/time/clock.ts';
import { getSettings } from '../../settings.ts';
import { emailFromHandle } from '../members/email-handles.ts';
import { requirePassword } from '../passwords/change-password.ts';
import { findUser, useOnce } from '../store.ts';
import { challengeEnd, challengeHash, newChallenge } from './challenge.ts';
import { relyingParty } from './relying-party.ts';
import type { AddPasskeyBody, PasskeyRecord } from './schemas.ts';
import * as store from './store.ts';

const maxPasskeys = 20;

export const passkeyRecord = (row: store.PasskeyRow): z.infer<typeof PasskeyRecord> => ({
  id: row.id,
  name: row.name,
  is_backed_up: row.isBackedUp,
  last_used_at: nullableTimestamp(row.lastUsedAt),
  created_at: toTimestamp(row.createdAt),
});

/** What the browser needs to make a passkey. Throws 409 where the service has no domain name, and for a person who has 20 passkeys. */
export async function startPasskey(bindings: Env, userId: number, requestUrl: string, now: number) {
  const settings = getSettings(bindings);
  const site = relyingParty(settings, requestUrl);
  const accounts = catalog(bindings);
  const [user, known] = [await findUser(accounts, userId), await store.listPasskeys(accounts, userId)];
  if (!user) throw notFound('User');
  requireRoom(known.length);
  const { toCreationOptions } = await import('./web-authn.ts');
  const challenge = await newChallenge(settings.SIGNING_KEY, `add:${userId}`, now);
  return toCreationOptions(site, { ...user, email: emailFromHandle(user.email) }, challenge, known);
}

/** Keeps the passkey that the browser has made. Throws 409, 422 for a wrong password or an answer that proves nothing, and 429. */
export async function addPasskey(
  bindings: Env,
  userId: number,
  { password, name, credential }: z.infer<typeof AddPasskeyBody>,
  requestUrl: string,
  now: number,
): Promise<store.PasskeyRow> {
  const { SIGNING_KEY } = getSettings(bindings);
  const site = relyingParty(getSettings(bindings), requestUrl);
  const accounts = catalog(bindings);
  await requirePassword(bindings, userId, password, 'password', now);
  requireRoom(await store.countPasskeys(accounts, userId));
  const { challengeOf, verifyCreation } = await import('./web-authn.ts');
  const challenge = challengeOf(credential.response.clientDataJSON);
  const end = challenge === null ? null : await challengeEnd(SIGNING_KEY, `add:${userId}`, challenge, now);
  if (challenge === null || end === null) throw invalidCredential('its challenge is over, or was made for somebody else');
  const made = await verifyCreation(site, credential as RegistrationResponseJSON, async (one) => one === challenge).catch(
    (error: Error) => {
      throw invalidCredential(error.message);
    },
  );
  if (!made) throw invalidCredential('it proves nothing');
  if (!(await useOnce(accounts, challengeHash(challenge), end))) throw invalidCredential('its challenge was answered before');
  const { id: credentialId, ...key } = made;
  const row = await store.insertPasskey(accounts, { userId, name, credentialId, ...key, createdAt: now });
  if (!row) throw conflict('This passkey is known already; log in by it');
  return row;
}

/** Throws 404. */
export async function deletePasskey(bindings: Env, userId: number, id: number): Promise<void> {
  if (!(await store.deletePasskey(catalog(bindings), userId, id))) throw notFound('Passkey');
}

function requireRoom(count: number): void {
  if (count >= maxPasskeys) throw conflict(`You have ${count} passkeys, the most that there may be; delete one first`);
}

const invalidCredential = (why: string) =>
  invalidAt(['body', 'credential'], `Is not taken: ${why}. Ask for new options, and send the answer of the browser as it is`);
