import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { getSettings } from '../../src/settings.ts';
import { newOrganization } from '../support/organization.ts';
import { origin, serviceWith } from './service.ts';

const page = 'https://app.example.com';
const service = serviceWith({ CORS_ALLOWED_ORIGINS: `${page}, http://localhost:3000` });

const call = (send: (request: Request) => Promise<Response>, method: string, path: string, headers: Record<string, string>) =>
  send(new Request(`${origin}/api/v1${path}`, { method, headers }));
const preflight = { 'Access-Control-Request-Method': 'PATCH', 'Access-Control-Request-Headers': 'x-api-key,content-type,idempotency-key' };

describe('pages of other origins', () => {
  test('get no permission to call, unless an origin is allowed', async () => {
    const { key } = await newOrganization();
    const off = serviceWith({});
    const asked = await call(off, 'OPTIONS', '/contacts', { Origin: page, ...preflight });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([401, null]);
    const called = await call(off, 'GET', '/contacts', { Origin: page, 'X-API-Key': key });
    expect([called.status, called.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  });

  test('of an allowed one are let in by a preflight without credentials', async () => {
    for (const allowed of [page, 'http://localhost:3000']) {
      const { status, headers } = await call(service, 'OPTIONS', '/contacts/1', { Origin: allowed, ...preflight });
      expect([status, headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([
        204,
        allowed,
        expect.stringContaining('Origin'),
      ]);
      expect(headers.get('access-control-allow-methods')).toContain('PATCH');
      expect(headers.get('access-control-allow-headers')).toMatch(/x-api-key.*content-type.*idempotency-key/i);
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test('read answers and refusals, and the headers that matter', async () => {
    const { key } = await newOrganization();
    for (const [path, headers, status] of [
      ['/contacts?colour=red', { 'X-API-Key': key }, 200],
      ['/contacts/999999999', { 'X-API-Key': key }, 404],
      ['/contacts', {}, 401],
      ['/health', {}, 200],
    ] as const) {
      const answer = await call(service, 'GET', path, { Origin: page, ...headers });
      expect([path, answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([path, status, page]);
      for (const name of ['X-Request-Id', 'Retry-After', 'Idempotency-Replayed', 'Warning', 'Location'])
        expect(answer.headers.get('access-control-expose-headers')).toContain(name);
      expect(answer.headers.get('x-request-id')).not.toBeNull();
    }
  });

  test('of any other origin are not let in, however alike', async () => {
    for (const other of ['https://app.example.com.evil.test', 'http://app.example.com', 'https://APP.example.com:444', 'null', '*']) {
      const { headers } = await call(service, 'OPTIONS', '/contacts', { Origin: other, ...preflight });
      expect([other, headers.get('access-control-allow-origin')]).toEqual([other, null]);
    }
  });

  test('are named as origins: anything else is a bad setting', () => {
    const settings = (text: string) => getSettings({ ...env, CORS_ALLOWED_ORIGINS: text } as Env).CORS_ALLOWED_ORIGINS;
    expect(settings('')).toEqual([]);
    expect(settings(' https://a.example , http://localhost:5173,')).toEqual(['https://a.example', 'http://localhost:5173']);
    for (const wrong of [
      '*',
      'app.example.com',
      'https://app.example.com/',
      'https://app.example.com/path',
      'ftp://a.example',
      'https://A.example',
      'null',
    ])
      expect(() => settings(wrong)).toThrow(/CORS_ALLOWED_ORIGINS: must be origins/);
  });
});

describe('the bare address', () => {
  test('shows the console to a browser, or the documentation where the console is not built', async () => {
    const answer = await service(new Request(`${origin}/`, { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }));
    expect(answer.headers.get('vary')).toBe('Accept');
    if (answer.status === 302) expect(answer.headers.get('location')).toBe('/docs/');
    else expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('id="root"')]);
  });

  test('tells a program where everything is, and each address answers', async () => {
    for (const headers of [{}, { Accept: '*/*' }, { Accept: 'application/json' }] as Record<string, string>[]) {
      const answer = await service(new Request(`${origin}/`, { headers }));
      expect(answer.status).toBe(200);
      const { service: name, version, api, ...links } = (await answer.json()) as Record<string, string>;
      expect([name, version, api]).toEqual([expect.any(String), expect.any(String), `${origin}/api/v1`]);
      for (const [what, link] of Object.entries(links))
        expect([what, (await service(new Request(link!))).status]).toEqual([what, what === 'mcp' ? 401 : 200]);
    }
  });

  test('names the public address where one is set', async () => {
    const answer = await serviceWith({ PUBLIC_URL: 'https://calls.example.com' })(new Request(`${origin}/`));
    expect(await answer.json()).toMatchObject({
      docs: 'https://calls.example.com/docs/',
      openapi: 'https://calls.example.com/api/v1/openapi.json',
    });
  });
});
