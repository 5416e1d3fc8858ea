import { exports } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { newOrganization } from '../support/organization.ts';
import { filled, operations } from './operations.ts';
import { anonymous, origin } from './service.ts';

const send = (method: string, path: string, key: string) =>
  exports.default.fetch(
    new Request(`${origin}/api/v1${path}`, {
      method,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: method === 'GET' ? undefined : '{}',
    }),
  );

/** A warning in the form of RFC 9111: code, agent, quoted text in ASCII. */
const form = /^299 - "[\x20\x21\x23-\x5b\x5d-\x7e]*"$/;

describe('a query parameter that an operation does not have', () => {
  const takingAny = operations.filter(({ path }) => path === '/automation-workflows/webhook/{trigger_uuid}');

  test('is named in a Warning header, by every operation', async () => {
    const { key } = await newOrganization();
    for (const { method, path } of operations.filter((one) => !takingAny.includes(one))) {
      const { headers } = await send(method, `${filled(path)}?limt=5`, key);
      expect([`${method} ${path}`, headers.get('warning')]).toEqual([
        `${method} ${path}`,
        expect.stringMatching(/^299 - "Unknown query parameters are ignored: limt; this operation takes [\w, ]+"$/),
      ]);
    }
  });

  test('is not one that the document names, of any operation', async () => {
    const { key } = await newOrganization();
    for (const { method, path, parameters } of operations) {
      const query = parameters.filter((one) => one.in === 'query').map(({ name }) => `${name}=1`);
      const { headers } = await send(method, `${filled(path)}?${query.join('&')}`, key);
      expect([`${method} ${path}`, headers.get('warning')]).toEqual([`${method} ${path}`, null]);
    }
  });

  test('changes nothing else, and leaves an answer without one silent', async () => {
    const { client } = await newOrganization();
    await client.post('/contacts', { email: 'one@example.com' });
    const [plain, asked] = [await client.get('/contacts'), await client.get('/contacts?limt=5&colour=red')];
    expect(asked.body).toEqual(plain.body);
    expect([plain.headers.get('warning'), asked.headers.get('warning')]).toEqual([null, expect.stringContaining('limt, colour;')]);
    expect((await client.get('/contacts?')).headers.get('warning')).toBeNull();
    expect((await client.get('/contacts?limit=x&limt=5')).status).toBe(422);
    expect((await client.get('/contacts?limit=x&limt=5')).headers.get('warning')).toContain('limt');
    expect((await anonymous.get('/health?verbose')).headers.get('warning')).toContain('verbose; this operation takes none');
  });

  test('cannot break the header, nor make it long', async () => {
    const { client } = await newOrganization();
    const names = ['a"b', 'a\\b', 'a\r\nSet-Cookie: x=1', 'é', '😀'.repeat(50), 'a\0b', 'x'.repeat(5000), '%', '__proto__', 'constructor'];
    for (const name of names) expect((await client.get(`/contacts?${encodeURIComponent(name)}=1`)).headers.get('warning')).toMatch(form);
    const many = names.concat(Array.from({ length: 500 }, (_, index) => `n${index}`));
    const warning = (await client.get(`/contacts?${many.map((name) => `${encodeURIComponent(name)}=1`).join('&')}`)).headers.get('warning');
    expect(warning).toMatch(form);
    expect(warning).toContain(`and ${many.length - 5} more`);
    expect(warning!.length).toBeLessThan(700);
  });

  test('of a webhook belongs to its sender', async () => {
    expect((await anonymous.post('/automation-workflows/webhook/none?shop=1', {})).headers.get('warning')).toBeNull();
    expect(takingAny).toHaveLength(2);
  });
});

describe('a boolean in a query', () => {
  const flags = operations.flatMap(({ method, path, parameters }) =>
    parameters.filter((one) => one.in === 'query' && one.schema['type'] === 'boolean').map(({ name }) => ({ method, path, name })),
  );

  test('is true, 1, yes, on, false, 0, no or off, in any case, and nothing else, in every operation', async () => {
    const { key } = await newOrganization();
    expect(flags.length).toBeGreaterThanOrEqual(4);
    for (const { method, path, name } of flags) {
      for (const text of ['true', '1', 'yes', 'on', 'TRUE', 'Yes', 'oN', 'false', '0', 'no', 'off', 'False', 'NO', 'OFF'])
        expect([path, text, (await send(method, `${filled(path)}?${name}=${text}`, key)).status]).not.toEqual([path, text, 422]);
      for (const text of ['', '2', 'y', 'tru', 'null', 'true,false']) {
        const answer = await send(method, `${filled(path)}?${name}=${text}`, key);
        const issue = { loc: ['query', name], msg: expect.stringContaining('true'), type: expect.any(String) };
        expect([path, text, answer.status, await answer.json()]).toEqual([path, text, 422, { detail: [issue] }]);
      }
    }
  });

  test('means what it says', async () => {
    const { client } = await newOrganization();
    for (let count = 0; count < 2; count++) await client.post('/events', { event_type: 'seen', phone: '+12125550123' });
    for (const yes of ['true', '1', 'YES', 'On']) expect((await client.get(`/events?unique_by_phone=${yes}`)).body.total).toBe(1);
    for (const no of ['false', '0', 'NO', 'Off']) expect((await client.get(`/events?unique_by_phone=${no}`)).body.total).toBe(2);
    expect((await client.get('/events')).body.total).toBe(2);
  });
});
