import { createHash, createHmac } from 'node:crypto';
import { parse, stringify } from 'node:querystring';
import { isEqualConstantTime } from '../../../library/security/hash.ts';

export interface SignedTwilioRequest {
  /** The address that Twilio called, from scheme to query; with wss for a socket. */
  url: string;
  /** The body as it was received. */
  body: string;
  contentType: string | null;
  /** X-Twilio-Signature. */
  signature: string | null;
  /** X-Twilio-Webhooks-Signature-Settings, which names a shared key and its algorithm; null without. */
  settings: string | null;
}

export interface TwilioSecrets {
  authToken: string;
  /** Secrets of shared keys by the name that the settings header gives. */
  sharedKeys?: Record<string, string>;
}

/**
 * Whether a request is signed by Twilio: HMAC over the exact URL, followed by every form parameter sorted by name, each value of a repeated
 * name once and sorted (https://www.twilio.com/docs/usage/security). Other bodies are covered by `bodySHA256` in the URL.
 */
export function hasValidTwilioSignature(request: SignedTwilioRequest, secrets: TwilioSecrets): boolean {
  const key = signingKey(request.settings, secrets);
  if (key === undefined || request.signature === null || !URL.canParse(request.url)) return false;
  const bodyHash = new URL(request.url).searchParams.get('bodySHA256');
  const isForm = bodyHash === null && isFormType(request.contentType);
  // The signature covers no such body.
  if (request.body !== '' && bodyHash === null && !isForm) return false;
  if (bodyHash !== null && !isEqualConstantTime(bodyHash.toLowerCase(), createHash('sha256').update(request.body).digest('hex')))
    return false;
  const parameters = isForm ? sortedParameters(new URLSearchParams(request.body)) : '';
  return urlVariants(request.url)
    .map((url) =>
      isEqualConstantTime(
        request.signature!,
        createHmac(key.algorithm, key.secret)
          .update(url + parameters)
          .digest('base64'),
      ),
    )
    .includes(true);
}

const isFormType = (contentType: string | null) =>
  contentType === null || contentType.split(';')[0]!.trim().toLowerCase() === 'application/x-www-form-urlencoded';

function signingKey(
  settings: string | null,
  { authToken, sharedKeys = {} }: TwilioSecrets,
): { algorithm: string; secret: string } | undefined {
  // With an empty key anybody could sign.
  if (settings === null) return authToken === '' ? undefined : { algorithm: 'sha1', secret: authToken };
  const fields = Object.fromEntries(settings.split(',').map((part) => part.trim().split('=', 2) as [string, string]));
  const secret = Object.entries(sharedKeys).find(([name]) => name === fields['key'])?.[1];
  return secret && fields['algorithm'] === 'HMAC_SHA256' ? { algorithm: 'sha256', secret } : undefined;
}

function sortedParameters(form: URLSearchParams): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of form) values.set(name, (values.get(name) ?? new Set()).add(value));
  return [...values.keys()]
    .toSorted(byCodeUnits)
    .flatMap((name) => [...values.get(name)!].toSorted(byCodeUnits).map((value) => name + value))
    .join('');
}

const byCodeUnits = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

const defaultPorts: Record<string, string> = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443' };

/**
 * The spellings that Twilio's own validator tries: the URL unchanged, as `URL` normalizes it, and the latter with its query parsed and
 * written anew; each with and without its default port. (https://github.com/twilio/twilio-node, src/webhooks/webhooks.ts)
 */
function urlVariants(url: string): string[] {
  const normalized = new URL(url).toString();
  const texts = new Set([url, normalized, withReencodedQuery(normalized)]);
  return [...new Set([...texts].flatMap(withAndWithoutPort))];
}

function withReencodedQuery(url: string): string {
  const start = url.indexOf('?');
  return start === -1 || start === url.length - 1 ? url : `${url.slice(0, start)}?${stringify(parse(url.slice(start + 1)))}`;
}

/** The URL with and without its default port, otherwise unchanged. */
function withAndWithoutPort(url: string): string[] {
  const [, scheme, authority, rest] = /^([a-z]+:)\/\/([^/?#]*)(.*)$/is.exec(url) ?? [];
  const port = defaultPorts[scheme?.toLowerCase() ?? ''];
  if (port === undefined || authority === undefined) return [url];
  const [, host, given] = /^(.*?)(?::(\d+))?$/.exec(authority) ?? [];
  if (given !== undefined && given !== port) return [url];
  return [`${scheme}//${host}${rest}`, `${scheme}//${host}:${port}${rest}`];
}
