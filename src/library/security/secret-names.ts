// The names of secrets: one list for sealing, for masking in records and histories, and for redirects to other origins.

/** Headers that identify no sender. Every other header may be a credential. */
const nonSecretHeaders = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'age',
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'etag',
  'expires',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'last-modified',
  'pragma',
  'prefer',
  'range',
  'retry-after',
  'server',
  'traceparent',
  'user-agent',
  'vary',
  'webhook-id',
  'webhook-timestamp',
  'x-correlation-id',
  'x-request-id',
]);

export const isNonSecretHeader = (name: string): boolean => nonSecretHeaders.has(name.trim().toLowerCase());

const secretFields = new Set([
  'secret',
  'token',
  'password',
  'passwd',
  'verifytoken',
  'accesstoken',
  'refreshtoken',
  'authtoken',
  'apitoken',
  'apikey',
  'qaapikey',
  'accesskey',
  'privatekey',
  'secretkey',
  'appsecret',
  'clientsecret',
  'signingsecret',
  'webhooksecret',
]);

/** Whether a field of an object holds a secret, by its name in snake_case, camelCase or kebab-case. */
export const isSecretField = (name: string): boolean => secretFields.has(name.replace(/[-_]/g, '').toLowerCase());

const secretParameterWords = new Set([
  'appid',
  'auth',
  'authorization',
  'bearer',
  'credential',
  'credentials',
  'hmac',
  'jwt',
  'key',
  'keys',
  'pass',
  'passwd',
  'pwd',
  'session',
  'sessionid',
  'sig',
  'sign',
]);
const secretParameterSuffix =
  /(token|secret|password|signature|(access|api|app|auth|client|license|master|private|secret|subscription)key)$/;

/** Whether a query parameter holds a secret, such as api_key, access_token, sig, X-Amz-Signature or the `code` of a function's address. */
export function isSecretParameter(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/\d+$/, ''));
  return name.toLowerCase() === 'code' || words.some((word) => secretParameterWords.has(word) || secretParameterSuffix.test(word));
}

/** Whether a field is an address to which something is sent. */
export const isUrlField = (name: string): boolean =>
  /(^|[-_])(url|uri|href|endpoint|host|hostname|domain)$/i.test(name) ||
  /[a-z](Url|URL|Uri|URI|Href|Endpoint|Host|Hostname|Domain)$/.test(name);
