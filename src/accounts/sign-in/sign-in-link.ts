import { catalog } from '../../database/shards.ts';
import { toNetworkPrefix } from '../../http/network-prefix.ts';
import { unauthorized } from '../../library/errors.ts';
import { isEqualConstantTime, randomToken, sha256Hex } from '../../library/security/hash.ts';
import { signParts } from '../../library/security/signed-paths.ts';
import { getSettings } from '../../settings.ts';
import { toLinkUrl } from '../link-url.ts';
import { emailFromHandle } from '../members/email-handles.ts';
import * as store from '../store.ts';
import { createSession, limitLoginBurst, type SignedIn, type Visitor } from './sign-in.ts';

const linkMinutes = 60;

/**
 * A link that logs in the person of a session once, in another browser. It lasts an hour, and no longer than that session: whoever ends all
 * sessions, or changes the password, ends its links, too. It needs no row until it is used: `val_{id}.{end in epoch ms}.{hash of the session}.{signature}`.
 */
export async function createSignInLink(
  bindings: Env,
  sessionToken: string,
  origin: string,
  now: number,
): Promise<{ url: string; token: string; expiresAt: number }> {
  const settings = getSettings(bindings);
  const [id, expiresAt, session] = [randomToken(16), now + linkMinutes * 60_000, sha256Hex(sessionToken)];
  const token = `val_${[id, expiresAt, session, await sign(settings.SIGNING_KEY, id, expiresAt, session)].join('.')}`;
  return { url: toLinkUrl(settings, origin, 'sign-in', token), token, expiresAt };
}

/** Throws 401, the same for a link that is unknown, used, or over, and 429. */
export async function signInByLink(bindings: Env, token: string, visitor: Visitor, now: number): Promise<SignedIn> {
  const network = visitor.address ? toNetworkPrefix(visitor.address) : 'unknown';
  await limitLoginBurst(bindings, { subject: `link:${network}`, free: 0 }, now);
  const accounts = catalog(bindings);
  const link = await readToken(getSettings(bindings).SIGNING_KEY, token, now);
  const found = link && (await store.findSession(accounts, link.session, now));
  const user = found && (await store.findUser(accounts, found.session.userId));
  if (!link || !user || !(await store.useOnce(accounts, sha256Hex(token), link.expiresAt))) throw refused();
  return createSession(bindings, user, found.role ? found.organization : null, emailFromHandle(user.email), visitor, now);
}

async function readToken(signingKey: string, token: string, now: number): Promise<{ session: string; expiresAt: number } | null> {
  const [, id, end, session, signature] = /^val_([\w-]+)\.(\d{1,16})\.([\da-f]{64})\.([\da-f]{64})$/.exec(token) ?? [];
  if (!id || !end || !session || !signature || !(Number(end) > now)) return null;
  return isEqualConstantTime(signature, await sign(signingKey, id, Number(end), session)) ? { session, expiresAt: Number(end) } : null;
}

const sign = (signingKey: string, id: string, end: number, session: string): Promise<string> =>
  signParts(signingKey, ['sign-in link', id, end, session]);

const refused = () => unauthorized('This link is unknown, used or older than an hour; make another, or log in by your password');
