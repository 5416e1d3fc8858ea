import { exports } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { document, operations } from './operations.ts';
import { anonymous, origin } from './service.ts';

/** Every `$ref` inside `value`. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => (name === '$ref' ? [inner as string] : referencesIn(inner)));
}

const resolved = (reference: string): unknown =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<any>((at, part) => at?.[part], document);

describe('the OpenAPI document', () => {
  test('is served without credentials, and describes this version', async () => {
    const answer = await anonymous.get('/openapi.json');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.body).toEqual(document);
    expect((await anonymous.get('/openapi.json/')).body).toEqual(document);
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Voice Agent Automation Service', version: packageFile.version } });
  });

  test('gives every operation a summary, a tag, a described success and its errors', () => {
    expect(operations.length).toBeGreaterThan(45);
    for (const { method, path, details } of operations) {
      const name = `${method} ${path}`;
      expect([name, details.summary]).toEqual([name, expect.stringMatching(/^\S.{5,}$/)]);
      expect([name, details.tags]).toEqual([name, [expect.any(String)]]);
      const success = Object.keys(details.responses).filter((status) => status.startsWith('2'));
      expect([name, success.length]).toEqual([name, 1]);
      for (const status of [...success, '401', '422', '429']) {
        const { description, content } = details.responses[status] ?? {};
        expect([name, status, description]).toEqual([name, status, expect.any(String)]);
        const [media] = Object.values<any>(content ?? {});
        expect([name, status, media?.schema]).toEqual([name, status, expect.any(Object)]);
      }
    }
  });

  test('creates with 201, takes deliveries with 202, and answers all else with 200', () => {
    const others = operations.flatMap(({ method, path, details }) => {
      const status = Object.keys(details.responses).find((one) => one.startsWith('2'));
      return status === '200' ? [] : [`${status} ${method} ${path.replace(/\/$/, '').replaceAll(/\{\w+\}/g, '{}')}`];
    });
    expect(others.toSorted()).toEqual([
      '201 POST /automation-workflows',
      '201 POST /automation-workflows/{}/triggers',
      '201 POST /contacts',
      '201 POST /contacts/lists',
      '201 POST /events',
      '202 POST /automation-workflows/webhook/{}',
    ]);
  });

  test('describes errors in the two shapes that they have', () => {
    for (const { details } of operations)
      for (const [status, response] of Object.entries<any>(details.responses))
        if (!status.startsWith('2'))
          expect(response.content['application/json'].schema.$ref).toBe(
            `#/components/schemas/${status === '422' ? 'ValidationError' : 'Error'}`,
          );
  });

  test('names each operation once, and no two ids are the same', () => {
    const names = operations.map(({ method, path }) => `${method} ${path.replace(/\/$/, '').replaceAll(/\{\w+\}/g, '{}')}`);
    expect(new Set(names).size).toBe(names.length);
    const ids = operations.flatMap(({ details }) => details.operationId ?? []);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('declares every path parameter of every path, and no other', () => {
    for (const { path, parameters } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = parameters.filter((one) => one.in === 'path');
      expect(declared.map(({ name }) => name).toSorted()).toEqual(inPath.toSorted());
      expect(declared.every(({ required }) => required)).toBe(true);
    }
  });

  test('refers to nothing that is not there, and defines nothing that is not referred to', () => {
    const references = new Set(referencesIn(document));
    expect(references.size).toBeGreaterThan(20);
    for (const reference of references) expect([reference, resolved(reference)]).toEqual([reference, expect.any(Object)]);
    for (const name of Object.keys(document.components.schemas)) expect(references).toContain(`#/components/schemas/${name}`);
  });

  test('uses the words of OpenAPI 3.1, not those of 3.0', () => {
    const text = JSON.stringify(document);
    expect(text).not.toContain('"nullable"');
    expect(text).not.toMatch(/"exclusiveM(in|ax)imum":(true|false)/);
  });

  test('says which credentials there are', () => {
    expect(Object.keys(document.components.securitySchemes).toSorted()).toEqual(['ApiKey', 'Session', 'SessionCookie']);
    expect(document.security.map((one: object) => Object.keys(one)[0]).toSorted()).toEqual(['ApiKey', 'Session', 'SessionCookie']);
  });
});

const page = (path: string) => exports.default.fetch(new Request(`${origin}${path}`, { redirect: 'manual' }));

describe('the page to try it', () => {
  test('is served with all that it loads, from this service alone', async () => {
    const answer = await page('/docs/');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    const html = await answer.text();
    const loaded = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(loaded.length).toBeGreaterThanOrEqual(4);
    for (const path of loaded) {
      expect(path).toMatch(/^\/docs\//);
      const asset = await page(path);
      expect([path, asset.status]).toEqual([path, 200]);
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
    expect(await (await page('/docs/initialize.js')).text()).toContain("'/api/v1/openapi.json'");
  });

  test('is found without the slash too', async () => {
    const answer = await page('/docs');
    expect([301, 302, 307, 308]).toContain(answer.status);
    expect(new URL(answer.headers.get('location')!, origin).pathname).toBe('/docs/');
  });

  test('has nothing beside it that is not meant to be seen', async () => {
    for (const path of ['/docs/missing.js', '/docs/../package.json', '/docs/%2e%2e/package.json', '/wrangler.toml'])
      expect((await page(path)).status).toBe(404);
  });
});
