import { exports } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { newOrganization } from '../support/organization.ts';
import { anonymous, origin } from './service.ts';

const ask = (path: string, headers: Record<string, string> = {}) =>
  exports.default.fetch(new Request(`${origin}${path}`, { headers, redirect: 'manual' }));

const common = { 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer' };

function expectHeaders({ headers }: { headers: Headers }, what: string) {
  for (const [name, value] of Object.entries(common)) expect([what, name, headers.get(name)]).toEqual([what, name, value]);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy, what).toContain("default-src 'none'");
  expect(policy, what).toContain("frame-ancestors 'none'");
  expect(policy, what).not.toMatch(/unsafe|\*|https?:|data:/);
  return policy;
}

test('the page at /docs and its files run their own script alone, and nobody frames them', async () => {
  for (const path of ['/docs/', '/docs/docs.js', '/docs/docs.css', '/docs/icon.svg', '/docs/openapi.json']) {
    const answer = await ask(path);
    expect([path, answer.status]).toEqual([path, 200]);
    const policy = expectHeaders(answer, path);
    for (const part of ["script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'"])
      expect(policy, path).toContain(part);
    await answer.body?.cancel();
  }
});

test('so do redirects to it, and what is not there', async () => {
  for (const path of ['/docs', '/docs/index.html', '/docs/missing.js', '/docs/%2e%2e/wrangler.toml']) {
    const answer = await ask(path);
    expect(answer.status, path).not.toBe(200);
    expectHeaders(answer, path);
    await answer.body?.cancel();
  }
});

test('the console runs its own scripts alone, and nobody frames it', async () => {
  for (const path of ['/', '/campaigns/1']) {
    const answer = await ask(path, { accept: 'text/html' });
    const policy = answer.headers.get('content-security-policy')!;
    if (answer.status === 302) continue;
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'");
    for (const part of ["connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]) expect(policy, path).toContain(part);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect((await answer.text()).match(/<script/g)).toHaveLength(1);
  }
  expect((await ask('/console/assets/missing.js')).status).toBe(404);
});

test('a file keeps its type and its name for caches, and is not sent again to who has it', async () => {
  const first = await ask('/docs/docs.js');
  expect(first.headers.get('content-type')).toMatch(/javascript/);
  const tag = first.headers.get('etag')!;
  expect(tag).toBeTruthy();
  const again = await ask('/docs/docs.js', { 'if-none-match': tag });
  expect(again.status).toBe(304);
  expectHeaders(again, '304');
});

test('answers of the API are framed nowhere, right or wrong, with credentials or without', async () => {
  const { client } = await newOrganization();
  for (const [what, answer] of Object.entries({
    found: await client.get('/contacts'),
    missing: await client.get('/contacts/999999999'),
    invalid: await client.post('/contacts', { phone: 7 }),
    refused: await anonymous.get('/contacts'),
    health: await anonymous.get('/health'),
    document: await anonymous.get('/openapi.json'),
    unknown: await anonymous.get('/no-such-path'),
  }))
    expectHeaders(answer, what);
});
