import { joinBytes, decodeSigningSecret } from '../../../library/security/standard-webhooks.ts';
import type { WebhookAuth } from './config.ts';

export type VerificationResult = { ok: true } | { ok: false; reason: string };

/** How far a signed timestamp may be from now, in the past or the future. An older delivery may be a replay. */
const toleranceSeconds = 300;

const encoder = new TextEncoder();
const ok: VerificationResult = { ok: true };
const refuse = (reason: string): VerificationResult => ({ ok: false, reason });

/** Verifies a delivery over the raw bytes of its body. Secrets are compared in constant time. `now` in epoch ms. The reason contains no secret. */
export async function verifySignature(auth: WebhookAuth, headers: Headers, body: Uint8Array, now: number): Promise<VerificationResult> {
  switch (auth.type) {
    case 'none':
      return ok;
    case 'hmac_sha256':
      return verifyHmac(headers.get(auth.header), auth.header, encoder.encode(auth.secret), body, auth.encoding, auth.prefix);
    case 'shopify':
      return verifyHmac(headers.get('x-shopify-hmac-sha256'), 'X-Shopify-Hmac-Sha256', encoder.encode(auth.secret), body, 'base64');
    case 'standard_webhooks':
      return verifyStandardWebhooks(auth.secret, headers, body, now);
    case 'stripe':
      return verifyStripe(auth.secret, auth.header, headers, body, now);
    case 'header_token':
      return verifyToken(headers.get(auth.header), auth.header, auth.token);
    case 'basic':
      return verifyBasic(headers.get('authorization'), auth.username, auth.password);
  }
}

type Encoding = 'hex' | 'base64';

async function verifyHmac(
  given: string | null,
  header: string,
  key: Uint8Array,
  body: Uint8Array,
  encoding: Encoding,
  prefix = '',
): Promise<VerificationResult> {
  if (given === null) return refuse(`header ${header} is missing`);
  if (!given.startsWith(prefix)) return refuse(`header ${header} does not begin with "${prefix}"`);
  return (await hasValidSignature(key, [given.slice(prefix.length)], encoding, body))
    ? ok
    : refuse(
        `the signature does not match: HMAC-SHA256 over the ${body.length} raw bytes of the body, in ${encoding}, is expected in ${header}`,
      );
}

async function verifyStandardWebhooks(secret: string, headers: Headers, body: Uint8Array, now: number): Promise<VerificationResult> {
  // Svix, where the standard comes from, still sends its own names.
  const read = (name: string): string | null => headers.get(`webhook-${name}`) ?? headers.get(`svix-${name}`);
  const [id, timestamp, signatures] = [read('id'), read('timestamp'), read('signature')];
  const missing = ['id', 'timestamp', 'signature'].filter((name) => read(name) === null).map((name) => `webhook-${name}`);
  if (id === null || timestamp === null || signatures === null)
    return refuse(`headers webhook-id, webhook-timestamp and webhook-signature are needed; missing: ${missing.join(', ')}`);
  if (!isRecent(timestamp, now)) return refuse('webhook-timestamp is more than 5 minutes from now');
  const key = decodeSigningSecret(secret);
  const candidates = signatures.split(' ').flatMap((signature) => (signature.startsWith('v1,') ? [signature.slice(3)] : []));
  if (!key || !(await hasValidSignature(key, candidates, 'base64', joinBytes(`${id}.${timestamp}.`, body))))
    return refuse(
      'the signature does not match: it is computed over "<webhook-id>.<webhook-timestamp>.<raw body>", with HMAC-SHA256 in base64',
    );
  return ok;
}

async function verifyStripe(secret: string, header: string, headers: Headers, body: Uint8Array, now: number): Promise<VerificationResult> {
  const given = headers.get(header);
  if (given === null) return refuse(`header ${header} is missing`);
  const items = given.split(',').map((item) => item.trim().split('=', 2));
  const timestamp = items.find(([name]) => name === 't')?.[1];
  const candidates = items.flatMap(([name, value]) => (name === 'v1' && value !== undefined ? [value] : []));
  if (timestamp === undefined || candidates.length === 0) return refuse(`header ${header} must be t=<seconds>,v1=<signature>`);
  if (!isRecent(timestamp, now)) return refuse('the signed timestamp is more than 5 minutes from now');
  const content = joinBytes(`${timestamp}.`, body);
  return (await hasValidSignature(encoder.encode(secret), candidates, 'hex', content))
    ? ok
    : refuse('the signature does not match: it is computed over "<timestamp>.<raw body>", with HMAC-SHA256 in hex');
}

async function verifyToken(given: string | null, header: string, token: string): Promise<VerificationResult> {
  if (given === null) return refuse(`header ${header} is missing`);
  const bearer = header.toLowerCase() === 'authorization' ? given.replace(/^Bearer\s+/i, '') : given;
  return (await isEqualConstantTime(given, token)) || (await isEqualConstantTime(bearer, token))
    ? ok
    : refuse(`header ${header} does not match`);
}

async function verifyBasic(given: string | null, username: string, password: string): Promise<VerificationResult> {
  const encoded = /^Basic\s+(\S+)$/i.exec(given ?? '')?.[1];
  const bytes = encoded === undefined ? null : decodeBytes(encoded, 'base64');
  if (!bytes) return refuse('header Authorization must be Basic credentials');
  return (await isEqualConstantTime(new TextDecoder().decode(bytes), `${username}:${password}`))
    ? ok
    : refuse('user name or password does not match');
}

const isRecent = (timestamp: string, now: number): boolean =>
  /^\d{1,12}$/.test(timestamp) && Math.abs(now / 1000 - Number(timestamp)) <= toleranceSeconds;

/** Whether one of the signatures is valid; a sender that rotates its secret sends several. The platform compares in constant time. */
async function hasValidSignature(
  key: Uint8Array,
  signatures: readonly string[],
  encoding: Encoding,
  content: Uint8Array,
): Promise<boolean> {
  const hmac = await crypto.subtle.importKey('raw', key as Uint8Array<ArrayBuffer>, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const checks = signatures.slice(0, 10).map(async (signature) => {
    const bytes = decodeBytes(signature.trim(), encoding);
    return bytes !== null && crypto.subtle.verify('HMAC', hmac, bytes, content as Uint8Array<ArrayBuffer>);
  });
  return (await Promise.all(checks)).includes(true);
}

/** Compares digests, so that the time shows neither the content nor the length of the secret. */
export async function isEqualConstantTime(given: string, secret: string): Promise<boolean> {
  const [a, b] = await Promise.all(
    [given, secret].map(async (text) => new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))),
  );
  return a!.reduce((difference, byte, index) => difference | (byte ^ b![index]!), 0) === 0;
}

function decodeBytes(text: string, encoding: Encoding): Uint8Array<ArrayBuffer> | null {
  if (encoding === 'hex') return /^([0-9a-f]{2})+$/i.test(text) ? Uint8Array.from(text.match(/../g)!, (pair) => parseInt(pair, 16)) : null;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
