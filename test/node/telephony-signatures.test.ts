import fc from 'fast-check';
import { createHash, createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sign } from '../../simulators/twilio/signature.ts';
import { hasValidTelnyxSignature } from '../../src/providers/telephony/telnyx/signature.ts';
import { hasValidTwilioSignature, type SignedTwilioRequest } from '../../src/providers/telephony/twilio/signature.ts';

const form = 'application/x-www-form-urlencoded';
const url = 'https://api.example.test/api/v1/telephony/status/42?org=7';
const parameters = {
  AccountSid: 'AC00000000000000000000000000000001',
  CallDuration: '12',
  CallSid: 'CA00000000000000000000000000000001',
  CallStatus: 'completed',
  From: '+15005550006',
  To: '+14155552671',
};
const secrets = { authToken: '12345' };
const golden: SignedTwilioRequest = {
  url,
  body: new URLSearchParams(parameters).toString(),
  contentType: form,
  signature: 'mgoQC+Z/K6ondW5MdM8s3ptkmuQ=',
  settings: null,
};
const isGood = (more: Partial<SignedTwilioRequest>, keys = secrets) => hasValidTwilioSignature({ ...golden, ...more }, keys);

describe('a request of Twilio', () => {
  test('is known by its SHA-1 signature', () => {
    expect(isGood({})).toBe(true);
    expect(isGood({ contentType: 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' })).toBe(true);
    const reversed = new URLSearchParams(Object.entries(parameters).toReversed()).toString();
    expect(isGood({ body: reversed })).toBe(true);
  });

  test("is nobody's when anything of it is changed, missing or signed with another token", () => {
    const changes: Partial<SignedTwilioRequest>[] = [
      { url: url.replace('org=7', 'org=8') },
      { url: url.replace('https', 'http') },
      { url: `${url}&more=1` },
      { url: 'nonsense' },
      { body: golden.body.replace('completed', 'busy') },
      { body: `${golden.body}&More=1` },
      { body: '' },
      { signature: null },
      { signature: '' },
      { signature: 'mgoQC+Z/K6ondW5MdM8s3ptkmuR=' },
      { signature: `${golden.signature}=` },
      { contentType: 'application/json' },
    ];
    for (const change of changes) expect([change, isGood(change)]).toEqual([change, false]);
    expect(isGood({}, { authToken: '12346' })).toBe(false);
    expect(hasValidTwilioSignature({ ...golden, signature: sign('', url, Object.entries(parameters)) }, { authToken: '' })).toBe(false);
  });

  test('is known by the SHA-256 signature of a shared key, and by that key alone', () => {
    const shared = { settings: 'key=k1,algorithm=HMAC_SHA256', signature: 'qw/m5NKeD+n5go2u4wAhNPEyQ56w7yEwe1HzQIiLuKE=' };
    const keys = { authToken: 'another', sharedKeys: { k1: '12345' } };
    expect(isGood(shared, keys)).toBe(true);
    expect(isGood({ ...shared, settings: 'algorithm=HMAC_SHA256, key=k1' }, keys)).toBe(true);
    expect(isGood({ ...shared, settings: 'key=k2,algorithm=HMAC_SHA256' }, keys)).toBe(false);
    expect(isGood({ ...shared, settings: 'key=toString,algorithm=HMAC_SHA256' }, keys)).toBe(false);
    expect(isGood({ ...shared, settings: 'key=k1,algorithm=HMAC_SHA1' }, keys)).toBe(false);
    expect(isGood({ ...shared, settings: '' }, keys)).toBe(false);
    expect(isGood({ settings: 'key=k1,algorithm=HMAC_SHA256' }, { authToken: '12345' })).toBe(false);
  });

  test('with another body is known by the hash of it in its address', () => {
    const address = 'https://api.example.test/hook?bodySHA256=93a23971a914e5eacbf0a8d25154cda309c3c1c72fbb9914d47c60f3cb681588';
    const json = { url: address, body: '{"hello":"world"}', contentType: 'application/json', signature: 'JGgGrQUVmxYQNxypoZROma24X+s=' };
    expect(isGood(json)).toBe(true);
    expect(isGood({ ...json, body: '{"hello": "world"}' })).toBe(false);
    expect(isGood({ ...json, url: address.replace('93a2', '93a3') })).toBe(false);
    const unhashed = 'https://api.example.test/hook';
    expect(isGood({ ...json, url: unhashed, signature: sign('12345', unhashed) })).toBe(false);
  });

  test('may have been signed with the default port or without', () => {
    for (const [scheme, port] of [
      ['https', 443],
      ['http', 80],
      ['wss', 443],
      ['ws', 80],
    ] as const) {
      const [plain, ported] = [`${scheme}://a.example.test/x?y=%20z`, `${scheme}://a.example.test:${port}/x?y=%20z`];
      for (const signed of [plain, ported])
        for (const seen of [plain, ported])
          expect(isGood({ url: seen, body: '', contentType: null, signature: sign('12345', signed) })).toBe(true);
      const other = plain.replace('/x', ':8443/x');
      expect(isGood({ url: other, body: '', contentType: null, signature: sign('12345', plain) })).toBe(false);
      expect(isGood({ url: other, body: '', contentType: null, signature: sign('12345', other) })).toBe(true);
    }
  });

  // By twilio-node 6.3.1, whose validator takes each of them for the first address of its group.
  test.each([
    [
      'as it came',
      'https://calls.example.test/api/v1/telephony/7/3/calls/42/status?attempt=campaign:7:12:1&note=a+b%20c(d)!',
      ['9sBCKYrKJ0eQWPYRlJ/+Cc5zBQ0=', 'ggl981JMpqR1DIC70rqndumtvSY=', 'mKhx4zY+LkvDlX4JgNFxuxgVeiU=', 'ZEP/je1f0HFCpdDWeMC+K90L8AM='],
    ],
    [
      'with characters that are escaped, and a name that comes twice',
      'https://calls.example.test/hook?q={"a":"ü|x"}&list=1&b=2&list=3',
      ['9GLtb6PvxIkKGify5WRrerSJEO4=', 'qslDXz7yBKxOxxQx4klSfRiqlio=', 's92YN1R+38gj9AJ5HvRcmJs4a98='],
    ],
  ])('may be signed over its address %s, normalized, with the port, and with the query written anew', (_what, seen, signatures) => {
    const body = 'CallSid=CA1&CallStatus=completed';
    for (const signature of signatures) expect([signature, isGood({ url: seen, body, signature })]).toEqual([signature, true]);
    for (const signature of signatures) expect(isGood({ url: seen.replace(/[12]/, '3'), body, signature })).toBe(false);
  });

  test('counts each value of a repeated name once, sorted, and empty values, too', () => {
    const body = 'Event=b&Event=a&Event=b&Empty=&Digits=1';
    const signature = createHmac('sha1', '12345').update(`${url}Digits1EmptyEventaEventb`).digest('base64');
    expect(isGood({ body, signature })).toBe(true);
    expect(isGood({ body: body.replace('&Empty=', ''), signature })).toBe(false);
    expect(isGood({ body: body.replace('&Digits=1', ''), signature })).toBe(false);
  });

  test('of any parameters is known, as the carrier signs them', () => {
    const name = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string())), fc.string({ minLength: 1 }), (pairs, authToken) => {
        const body = new URLSearchParams(pairs).toString();
        const signature = sign(authToken, url, new URLSearchParams(body));
        expect(hasValidTwilioSignature({ ...golden, body, signature }, { authToken })).toBe(true);
        expect(hasValidTwilioSignature({ ...golden, body, signature }, { authToken: `${authToken}.` })).toBe(false);
      }),
    );
  });
});

describe('a webhook of Telnyx', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('base64');
  const now = 1_700_000_000_000;
  const body = '{"hello":"world"}';
  const signed = (text: string, seconds: number | string = now / 1000) => ({
    body: text,
    timestamp: String(seconds),
    signature: signWith(null, Buffer.from(`${seconds}|${text}`), privateKey).toString('base64'),
  });

  test('is known by its signature, for five minutes in either direction', async () => {
    expect(await hasValidTelnyxSignature(signed(body), key, now)).toBe(true);
    expect(await hasValidTelnyxSignature(signed('{"name":"Zoë"}'), key, now)).toBe(true);
    for (const [seconds, expected] of [
      [-300, true],
      [300, true],
      [-301, false],
      [301, false],
    ] as const)
      expect([seconds, await hasValidTelnyxSignature(signed(body, now / 1000 + seconds), key, now)]).toEqual([seconds, expected]);
  });

  test("is nobody's when anything of it is changed or missing", async () => {
    const good = signed(body);
    const changes = [
      { body: `${body} ` },
      { timestamp: String(now / 1000 + 1) },
      { timestamp: `${good.timestamp}.0` },
      { timestamp: 'soon' },
      { timestamp: null },
      { signature: null },
      { signature: '' },
      { signature: good.signature.slice(0, 40) },
      { signature: createHash('sha512').update('x').digest('base64') },
    ];
    for (const change of changes)
      expect([change, await hasValidTelnyxSignature({ ...good, ...change }, key, now)]).toEqual([change, false]);
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x!;
    for (const wrong of [Buffer.from(other, 'base64url').toString('base64'), '', 'nonsense', key.slice(0, 20)])
      expect(await hasValidTelnyxSignature(good, wrong, now)).toBe(false);
  });
});
