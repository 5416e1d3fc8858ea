import type { z } from '@hono/zod-openapi';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { catalog } from '../../database/shards.ts';
import { toNetworkPrefix } from '../../http/network-prefix.ts';
import { unauthorized } from '../../library/errors.ts';
import { getSettings } from '../../settings.ts';
import { emailFromHandle } from '../members/email-handles.ts';
import { createSession, limitLoginBurst, type SignedIn, type Visitor } from '../sign-in/sign-in.ts';
import { findFirstOrganization, findUser, useOnce } from '../store.ts';
import { challengeEnd, challengeHash, newChallenge } from './challenge.ts';
import { relyingParty } from './relying-party.ts';
import type { PasskeyLogInBody } from './schemas.ts';
import * as store from './store.ts';

/** What the browser needs to ask a person for a passkey. The same for everybody, so it tells nothing about an address. Throws 409. */
export async function startPasskeyLogIn(bindings: Env, requestUrl: string, now: number) {
  const settings = getSettings(bindings);
  const site = relyingParty(settings, requestUrl);
  const { toRequestOptions } = await import('./web-authn.ts');
  return toRequestOptions(site, await newChallenge(settings.SIGNING_KEY, 'log_in', now));
}

/**
 * Begins a session of whoever has the passkey. Throws 401, the same for an unknown passkey, a wrong signature, and a challenge that is over or
 * was answered before, and 429.
 */
export async function logInByPasskey(
  bindings: Env,
  { credential }: z.infer<typeof PasskeyLogInBody>,
  { requestUrl, visitor }: { requestUrl: string; visitor: Visitor },
  now: number,
): Promise<SignedIn> {
  const settings = getSettings(bindings);
  const site = relyingParty(settings, requestUrl);
  const network = visitor.address ? toNetworkPrefix(visitor.address) : 'unknown';
  await limitLoginBurst(bindings, { subject: `passkey:${network}`, free: 0 }, now);
  const { challengeOf, verifyLogIn } = await import('./web-authn.ts');
  const accounts = catalog(bindings);
  const challenge = challengeOf(credential.response.clientDataJSON);
  const end = challenge === null ? null : await challengeEnd(settings.SIGNING_KEY, 'log_in', challenge, now);
  const passkey = await store.findPasskey(accounts, credential.id);
  if (challenge === null || end === null || !passkey) throw refused();
  const signatureCount = await verifyLogIn(site, credential as AuthenticationResponseJSON, passkey, async (one) => one === challenge).catch(
    () => null,
  );
  if (signatureCount === null || !(await useOnce(accounts, challengeHash(challenge), end))) throw refused();
  const user = await findUser(accounts, passkey.userId);
  if (!user) throw refused();
  await store.notePasskeyUse(accounts, passkey.id, signatureCount, now);
  const organization = (await findFirstOrganization(accounts, user.id)) ?? null;
  return createSession(bindings, user, organization, emailFromHandle(user.email), visitor, now);
}

const refused = () =>
  unauthorized('This passkey is unknown here, or its answer is not valid any more; try again, or log in by your password');
