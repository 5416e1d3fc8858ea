import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifySignature } from '../../src/automation-workflows/triggers/webhooks/signatures.ts';
import type { WebhookAuth } from '../../src/automation-workflows/triggers/webhooks/config.ts';
import { webhookBodies } from '../fixtures/webhooks.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const body = '{"hello":"world"}';
const at = 1_700_000_000_000;
const check = (auth: WebhookAuth, headers: Record<string, string>, content: string | Uint8Array = body, now = at) =>
  verifySignature(auth, new Headers(headers), typeof content === 'string' ? bytes(content) : content, now);
const hmac = (secret: string | Uint8Array, content: string | Uint8Array, encoding: 'hex' | 'base64') =>
  createHmac('sha256', secret).update(content).digest(encoding);

const whsec = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const standard = { type: 'standard_webhooks', secret: whsec } as const;
const standardHeaders = {
  'webhook-id': 'msg_1',
  'webhook-timestamp': '1700000000',
  'webhook-signature': 'v1,MKMdLrQZtvhGCti+Xfl0dES/Iq+R/K9NkTcZcULT6UA=',
};
const stripe = { type: 'stripe', secret: 'whsec_test', header: 'Stripe-Signature' } as const;
const stripeSignature = 'f592bbf3951cfc94e560eecfb5d9dd4da6b0fff2e626235f8ab4b54860925d0b';

test("signatures that the makers' own libraries computed are accepted", async () => {
  expect(await check(standard, standardHeaders)).toEqual({ ok: true });
  expect(await check(stripe, { 'Stripe-Signature': `t=1700000000,v1=${stripeSignature}` })).toEqual({ ok: true });
  expect(
    await check({ type: 'shopify', secret: 'shopify-secret' }, { 'X-Shopify-Hmac-Sha256': 'n+o9CD4QmtNTQpXoBIi8wOtR4PFag/Yrp9PdoVAfi7o=' }),
  ).toEqual({ ok: true });
  const typeform = {
    type: 'hmac_sha256',
    header: 'Typeform-Signature',
    secret: 'typeform-secret',
    encoding: 'base64',
    prefix: 'sha256=',
  } as const;
  expect(await check(typeform, { 'Typeform-Signature': 'sha256=ALZSbj2/HuduZO40rURR50W5GKgcmbq/aAIhZ2OeJ8U=' })).toEqual({ ok: true });
  const woo = { type: 'hmac_sha256', header: 'X-WC-Webhook-Signature', secret: 'woo-secret', encoding: 'base64' } as const;
  expect(await check(woo, { 'X-WC-Webhook-Signature': 'eSRw6z0vorFxDpROUPBKoCO9hqqfegsnU+Kg0pcHf1g=' })).toEqual({ ok: true });
  const meta = { type: 'hmac_sha256', header: 'X-Hub-Signature-256', secret: 'appsecret', encoding: 'hex', prefix: 'sha256=' } as const;
  expect(await check(meta, { 'X-Hub-Signature-256': 'sha256=5f9beeed2e1e89805bea7cbb95a08185aa38c3c39eafbadecbf2cfeafb2955d7' })).toEqual({
    ok: true,
  });
  const calendly = { ...stripe, secret: 'calkey', header: 'Calendly-Webhook-Signature' };
  expect(
    await check(calendly, {
      'Calendly-Webhook-Signature': 't=1700000000,v1=0bc253509145986411d37d689a1e08db8f70f5eccb4c2dc8f318f38a9e39c699',
    }),
  ).toEqual({ ok: true });
});

const schemes: { name: string; auth: WebhookAuth; sign(content: Uint8Array, secret: string): Record<string, string> }[] = [
  {
    name: 'hmac_sha256 hex',
    auth: { type: 'hmac_sha256', header: 'X-Signature', secret: 'k', encoding: 'hex' },
    sign: (content, secret) => ({ 'X-Signature': hmac(secret, content, 'hex') }),
  },
  {
    name: 'hmac_sha256 base64 with prefix',
    auth: { type: 'hmac_sha256', header: 'X-Signature', secret: 'k', encoding: 'base64', prefix: 'sha256=' },
    sign: (content, secret) => ({ 'X-Signature': `sha256=${hmac(secret, content, 'base64')}` }),
  },
  {
    name: 'shopify',
    auth: { type: 'shopify', secret: 'k' },
    sign: (content, secret) => ({ 'X-Shopify-Hmac-Sha256': hmac(secret, content, 'base64') }),
  },
  {
    name: 'stripe',
    auth: { type: 'stripe', secret: 'k', header: 'Stripe-Signature' },
    sign: (content, secret) => ({
      'Stripe-Signature': `t=1700000000,v1=${hmac(secret, Buffer.concat([bytes('1700000000.'), content]), 'hex')}`,
    }),
  },
  {
    name: 'standard_webhooks',
    auth: { type: 'standard_webhooks', secret: 'a2V5' },
    sign: (content, secret) => ({
      'webhook-id': 'm',
      'webhook-timestamp': '1700000000',
      'webhook-signature': `v1,${hmac(Buffer.from(secret === 'k' ? 'key' : secret), Buffer.concat([bytes('m.1700000000.'), content]), 'base64')}`,
    }),
  },
];

test.each(schemes)(
  '$name: accepted over the raw bytes of any body, refused after any change of one byte or with another secret',
  async ({ auth, sign }) => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.nat(), async (content, position) => {
        const headers = sign(content, 'k');
        expect(await check(auth, headers, content)).toEqual({ ok: true });
        const changed = content.map((byte, index) => (index === position % content.length ? byte ^ 1 : byte));
        expect(await check(auth, headers, changed)).toMatchObject({ ok: false });
        expect(await check(auth, sign(content, 'other'), content)).toMatchObject({ ok: false });
      }),
      { numRuns: 30 },
    );
  },
);

test.each(schemes)('$name: the three sample deliveries, signed, are accepted', async ({ auth, sign }) => {
  for (const [name, text] of Object.entries(webhookBodies))
    expect(await check(auth, sign(bytes(text), 'k'), text), name).toEqual({ ok: true });
});

test('an empty body can be signed, too', async () => {
  for (const { auth, sign } of schemes) expect(await check(auth, sign(new Uint8Array(), 'k'), new Uint8Array())).toEqual({ ok: true });
});

test('of several signatures one that fits is enough, as while a secret is changed', async () => {
  expect(
    await check(standard, { ...standardHeaders, 'webhook-signature': `v1,bm9wZQ== v2,x ${standardHeaders['webhook-signature']}` }),
  ).toEqual({ ok: true });
  expect(await check(stripe, { 'Stripe-Signature': `t=1700000000,v1=${'0'.repeat(64)},v1=${stripeSignature},v0=x` })).toEqual({ ok: true });
  expect(await check(stripe, { 'Stripe-Signature': `t=1700000000,v0=${stripeSignature}` })).toMatchObject({ ok: false });
});

test('a signed timestamp counts for five minutes either way', async () => {
  for (const [seconds, ok] of [
    [-301, false],
    [-300, true],
    [300, true],
    [301, false],
  ] as const) {
    expect((await check(standard, standardHeaders, body, at + seconds * 1000)).ok, `standard ${seconds}`).toBe(ok);
    expect(
      (await check(stripe, { 'Stripe-Signature': `t=1700000000,v1=${stripeSignature}` }, body, at + seconds * 1000)).ok,
      `stripe ${seconds}`,
    ).toBe(ok);
  }
  expect(await check(standard, { ...standardHeaders, 'webhook-timestamp': 'soon' })).toMatchObject({ ok: false });
});

test('the headers that Svix still sends are read as well', async () => {
  const svix = Object.fromEntries(Object.entries(standardHeaders).map(([name, value]) => [name.replace('webhook', 'svix'), value]));
  expect(await check(standard, svix)).toEqual({ ok: true });
});

test('a token is compared whole, with or without the word Bearer', async () => {
  const token = { type: 'header_token', header: 'Authorization', token: 'abc' } as const;
  expect(await check(token, { Authorization: 'abc' })).toEqual({ ok: true });
  expect(await check(token, { Authorization: 'Bearer abc' })).toEqual({ ok: true });
  for (const value of ['ab', 'abcd', 'Basic abc', ''])
    expect(await check(token, { Authorization: value }), value).toMatchObject({ ok: false });
  expect(await check({ ...token, header: 'X-Token' }, { 'X-Token': 'Bearer abc' })).toMatchObject({ ok: false });
});

const basicHeader = (text: string) => ({ Authorization: `Basic ${Buffer.from(text, 'utf8').toString('base64')}` });

test('basic credentials may hold any characters, also colons in the password', async () => {
  const basic = { type: 'basic', username: 'jörg', password: 'a:b ✓' } as const;
  expect(await check(basic, basicHeader('jörg:a:b ✓'))).toEqual({ ok: true });
  for (const text of ['jörg:a', 'jörg', ':a:b ✓', 'jorg:a:b ✓'])
    expect(await check(basic, basicHeader(text)), text).toMatchObject({ ok: false });
  expect(await check(basic, { Authorization: 'Basic !!!' })).toMatchObject({ ok: false });
});

test('without auth everything is accepted; with it a missing or malformed header is refused with a reason and no secret', async () => {
  expect(await check({ type: 'none' }, {})).toEqual({ ok: true });
  for (const { auth } of schemes) {
    const missing = await check(auth, {});
    expect(missing.ok).toBe(false);
    expect(JSON.stringify(missing)).not.toContain('"k"');
  }
  expect(await check(schemes[0]!.auth, { 'X-Signature': 'zz' })).toMatchObject({ ok: false });
  expect(await check(schemes[0]!.auth, { 'X-Signature': '' })).toMatchObject({ ok: false });
  expect(await check(schemes[1]!.auth, { 'X-Signature': hmac('k', body, 'base64') })).toEqual({
    ok: false,
    reason: 'header X-Signature does not begin with "sha256="',
  });
});
