import { expect, test } from 'vitest';
import { originOf, maskUrl } from '../../src/library/security/url-secrets.ts';
import { isSecretParameter, isNonSecretHeader, isSecretField } from '../../src/library/security/secret-names.ts';

test('two spellings of one origin are one', () => {
  const spellings = [
    'https://a.example.com',
    ' https://A.example.com:443/x?y#z',
    'https://a.example.com/{{ data.path }}',
    'https://u@a.example.com/',
  ];
  expect(new Set(spellings.map(originOf))).toEqual(new Set(['https://a.example.com']));
});

test.each([
  'https://a.example.com{{ x }}/',
  'https://{{ x }}.example.com/',
  '{{ x }}',
  '{% if x %}https://a.example.com/{% endif %}',
  'a.example.com',
  'ftp://a.example.com/',
])('where %s leads is its own text alone', (address) => expect(originOf(address)).toBe(address));

test.each([
  ['https://a.test/?api_key=x&b=1#c', 'https://a.test/?api_key=****&b=1#c'],
  ['https://a.test/?b=1&X-Amz-Signature=abc=', 'https://a.test/?b=1&X-Amz-Signature=****'],
  ['https://a.test/?token={{ data.t | default: "a&b#c" }}&b=1', 'https://a.test/?token=****&b=1'],
  ['https://a.test/?api%5Fkey=x', 'https://a.test/?api%5Fkey=****'],
  ['https://a.test/?token=&b', 'https://a.test/?token=&b'],
  ['https://a.test/?', 'https://a.test/?'],
  ['https://a.test/token=1', 'https://a.test/token=1'],
  ['{{ data.url }}?sig=1', '{{ data.url }}?sig=****'],
])('%s is shown as %s', (address, shown) => expect(maskUrl(address)).toBe(shown));

test('the time to read an address grows with its length, whatever is in it', () => {
  const ms = (length: number) => {
    const text = `https://a.test/?${'{{&token='.repeat(length)}`;
    const begun = performance.now();
    maskUrl(text);
    return performance.now() - begun;
  };
  ms(1_000);
  expect(ms(100_000)).toBeLessThan(2_000);
});

test.each([
  'api_key',
  'apiKey',
  'apikey',
  'key',
  'token',
  'access_token',
  'accessToken',
  'accesstoken',
  'sig',
  'signature',
  'client_secret',
  'pwd',
  'X-Amz-Credential',
  'code',
  'subscription-key',
  'token2',
  'auth',
])('a parameter named %s is a key', (name) => expect(isSecretParameter(name)).toBe(true));
test.each(['page', 'limit', 'keyword', 'monkey', 'country_code', 'author', 'design', 'passenger', 'order_id'])(
  'a parameter named %s is none',
  (name) => expect(isSecretParameter(name)).toBe(false),
);

test('headers are secret unless they are known as plain; fields only by their names', () => {
  expect(['Accept', 'content-type', 'User-Agent'].filter(isNonSecretHeader)).toHaveLength(3);
  expect(['Authorization', 'X-Shop', 'Cookie', 'webhook-signature', 'X-Anything', ''].filter(isNonSecretHeader)).toEqual([]);
  expect(['token', 'apiKey', 'client_secret', 'password', 'secret'].filter(isSecretField)).toHaveLength(5);
  expect(['tokens', 'page_token', 'key', 'secret_santa'].filter(isSecretField)).toEqual([]);
});
