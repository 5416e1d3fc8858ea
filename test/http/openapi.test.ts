import { exports } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { operationIds } from '../../src/openapi/groups.ts';
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

const responseOf = (details: Record<string, any>, status: string): any => {
  const response = details.responses[status];
  return response?.$ref ? resolved(response.$ref) : response;
};

describe('the OpenAPI document', () => {
  test('is served without credentials, and describes this version', async () => {
    const answer = await anonymous.get('/openapi.json');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.body).toEqual({ ...document, servers: [{ url: origin }] });
    expect((await anonymous.get('/openapi.json/')).body).toEqual(answer.body);
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
        const { description, content } = responseOf(details, status) ?? {};
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
      '201 POST /contacts/{}/consents',
      '201 POST /events',
      '202 POST /automation-workflows/webhook/{}',
    ]);
  });

  test('describes errors in the two shapes that they have, and that of a service that is not well', () => {
    const shapes = (operationId: string, status: string) => {
      if (operationId === 'health.get' && status === '503') return 'Unhealthy';
      return status === '422' ? 'ValidationError' : 'Error';
    };
    for (const { details } of operations)
      for (const status of Object.keys(details.responses))
        if (!status.startsWith('2'))
          expect(responseOf(details, status).content['application/json'].schema.$ref).toBe(
            `#/components/schemas/${shapes(details.operationId, status)}`,
          );
  });

  test('names each operation once, as its group and what it does, and shows it where its group has it', () => {
    const names = operations.map(({ method, path }) => `${method} ${path.replace(/\/$/, '').replaceAll(/\{\w+\}/g, '{}')}`);
    expect(new Set(names).size).toBe(names.length);
    const ids = operations.map(({ method, path, details }) => details.operationId ?? `${method} ${path} has no operationId`);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]*\.[a-z][A-Za-z]*$/);
    // The operationIds stay different in every spelling that generators use for method names.
    expect(new Set(ids.map((id) => id.replace('.', '').toLowerCase())).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(operationIds.toSorted());
    for (const { details } of operations) expect(details.tags).toEqual([details.operationId.split('.')[0]]);
  });

  test('describes each group, in the order of the document', () => {
    const tags: { name: string; description: string }[] = document.tags;
    expect(tags.map(({ name }) => name)).toEqual([...new Set(operations.map(({ details }) => details.tags[0]))]);
    for (const { name, description } of tags) expect([name, description]).toEqual([name, expect.stringMatching(/^\S.{15,}\.$/)]);
  });

  test('says of each operation which credentials open it, and which scope a key needs', () => {
    const of = (id: string) => {
      const { details } = operations.find((one) => one.details.operationId === id)!;
      return [details['x-scope'], details.security, details.description.split('\n\n').at(-1)];
    };
    const session = [{ Session: [] }, { SessionCookie: [] }];
    const any = [{ ApiKey: [] }, ...session];
    expect(of('health.get')).toEqual([undefined, [], 'Open without credentials.']);
    expect(of('webhooks.receive')).toEqual([undefined, [], 'Open without credentials.']);
    expect(of('auth.logOut')).toEqual([undefined, session, 'Needs a session; an API key has none.']);
    expect(of('contacts.list')).toEqual([
      'read',
      any,
      'An API key needs the scope `read`. A person needs the role `viewer`, `operator`, `admin` or `owner`.',
    ]);
    expect(of('knowledgeBase.search')).toEqual([
      'read',
      any,
      'An API key needs the scope `read`. A person needs the role `viewer`, `operator`, `admin` or `owner`.',
    ]);
    expect(of('campaigns.start')).toEqual([
      'operate',
      any,
      'An API key needs the scope `operate`. A person needs the role `operator`, `admin` or `owner`.',
    ]);
    expect(of('apiKeys.list')).toEqual([
      'read',
      any,
      'An API key needs the scope `read`. A person needs the role `viewer`, `operator`, `admin` or `owner`.',
    ]);
    for (const { details } of operations) expect([details.operationId, details.security]).toEqual([details.operationId, expect.any(Array)]);
  });

  test('offers an Idempotency-Key where one counts', () => {
    const takers = operations.filter(({ details }) => JSON.stringify(details.parameters ?? []).includes('IdempotencyKey'));
    const ids = takers.map(({ details }) => details.operationId);
    expect(ids).toContain('contacts.upsert');
    expect(takers.some(({ method }) => method === 'GET')).toBe(false);
    expect(ids.some((id) => /^(auth|apiKeys|webhooks)\./.test(id) || id.endsWith('.upload'))).toBe(false);
  });

  test('declares every path parameter of every path, and no other', () => {
    for (const { path, parameters } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = parameters.filter((one) => one.in === 'path');
      expect(declared.map(({ name }) => name).toSorted()).toEqual(inPath.toSorted());
      expect(declared.every(({ required }) => required)).toBe(true);
    }
  });

  test('describes every parameter', () => {
    const bare = operations.flatMap(({ details, parameters }) =>
      parameters.flatMap((one) => (one.in && !one.description ? [`${details.operationId} ${one.name}`] : [])),
    );
    expect(bare).toEqual([]);
  });

  test('refers to nothing that is not there, and defines nothing that is not referred to', () => {
    const references = new Set(referencesIn(document));
    expect(references.size).toBeGreaterThan(20);
    for (const reference of references) expect([reference, resolved(reference)]).toEqual([reference, expect.any(Object)]);
    for (const kind of ['schemas', 'responses', 'parameters'])
      for (const name of Object.keys(document.components[kind])) expect(references).toContain(`#/components/${kind}/${name}`);
  });

  test('uses the words of OpenAPI 3.1, not those of 3.0', () => {
    const text = JSON.stringify(document);
    expect(text).not.toContain('"nullable"');
    expect(text).not.toMatch(/"exclusiveM(in|ax)imum":(true|false)/);
  });

  test('says which credentials there are', () => {
    expect(Object.keys(document.components.securitySchemes).toSorted()).toEqual(['ApiKey', 'Session', 'SessionCookie']);
  });
});

const page = (path: string) => exports.default.fetch(new Request(`${origin}${path}`, { redirect: 'manual' }));

describe('the page to try it', () => {
  test('is served with all that it loads, from this service alone, without a script or a style of its own in it', async () => {
    const answer = await page('/docs/');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    const html = await answer.text();
    const loaded = [...html.matchAll(/<(?:script|link|img|iframe)[^>]* (?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(loaded.toSorted()).toEqual(['/docs/docs.css', '/docs/docs.js', '/docs/icon.svg']);
    for (const path of loaded) {
      const asset = await page(path);
      expect([path, asset.status]).toEqual([path, 200]);
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
    expect(html).not.toMatch(/<script>|<style|\sstyle=|\son\w+=/);
    // Text may name other sites; nothing that a browser loads by itself may lie there.
    expect([...html.matchAll(/\s(?:src|href|action)="(?![#/])[^"]*"/g)].map(([found]) => found)).toEqual([]);
    for (const path of ['/docs/docs.js', '/docs/docs.css']) expect(await (await page(path)).text()).not.toMatch(/https?:\/\//);
  });

  test('holds each operation as text, with a form for each parameter and body', async () => {
    const html = await (await page('/docs/')).text();
    for (const { details, path, parameters } of operations) {
      const id = details.operationId;
      const begin = html.indexOf(`id="${id}"`);
      const own = html.slice(begin, html.indexOf('</details>', begin));
      expect(own).toContain(`<code>${path}</code>`);
      expect(own).toContain(`<small>${id}</small>`);
      for (const { name, in: place } of parameters.filter((one) => one.in === 'path' || one.in === 'query'))
        expect([id, own.includes(`data-in="${place}" name="${name}"`)]).toEqual([id, true]);
      expect([id, own.includes('<textarea')]).toEqual([id, details.requestBody !== undefined]);
    }
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
