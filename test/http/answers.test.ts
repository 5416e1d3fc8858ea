import { env, exports } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { encodeCursor } from '../../src/http/pagination.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { recordedDatabase } from '../support/recorded-database.ts';
import { filled, operations } from './operations.ts';
import { anonymous, linesLoggedBy, origin, serviceWith } from './service.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const call = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
  exports.default.fetch(new Request(`${origin}/api/v1${path}`, { method, headers, body }));

/** The service with a database that fails in every call but those of authentication. */
const withBrokenDatabase = serviceWith({
  DB: recordedDatabase(env.DB, { statements: [], calls: 0 }, async (sql) => {
    if (!sql.join().includes('"api_key"'))
      throw new Error('D1_ERROR: no such table: contact at /src/contacts/contacts/store.ts: SQLITE_ERROR');
  }),
});

describe('credentials', () => {
  const open = [
    'GET /health',
    'POST /auth/signup',
    'POST /auth/login',
    'POST /auth/passkeys/login/options',
    'POST /auth/passkeys/login',
    'POST /auth/sign-in-links/use',
    'POST /auth/password/reset',
    'POST /auth/password/forgot',
    'POST /auth/invitations/preview',
    'POST /auth/invitations/accept',
    'GET /deletions/{deletion_id}',
    'POST /automation-workflows/webhook/{trigger_uuid}',
    'GET /automation-workflows/webhook/{trigger_uuid}',
    'PUT /uploads/campaigns/{organization_id}/{source_id}',
    'PUT /uploads/knowledge-base/{organization_id}/{document_uuid}',
    'GET /artifacts/{organization_id}/{run_id}/{artifact}',
  ];

  test('are asked for by every operation but the few that are open, whatever is sent', async () => {
    const closed = operations.filter(({ method, path }) => !open.includes(`${method} ${path}`));
    expect(closed).toHaveLength(operations.length - open.length);
    for (const { method, path } of closed) {
      for (const headers of [{}, { 'X-API-Key': 'vaa_nonsense' }] as Record<string, string>[]) {
        const answer = await call(method, filled(path), headers, method === 'GET' ? undefined : '{"malformed');
        expect([`${method} ${path}`, answer.status]).toEqual([`${method} ${path}`, 401]);
      }
    }
  });

  test('are what the document says an operation needs', () => {
    const said = operations.filter(({ details }) => details.security?.length === 0).map(({ method, path }) => `${method} ${path}`);
    expect(said.toSorted()).toEqual(open.toSorted());
  });

  test('are asked for on paths that do not exist, which so tell nothing', async () => {
    expect(await anonymous.get('/no-such-path')).toMatchObject({ status: 401, body: { detail: expect.any(String) } });
  });
});

describe('paths', () => {
  test('every operation answers with and without a trailing slash', async () => {
    const { key } = await newOrganization();
    for (const { method, path } of operations) {
      const without = filled(path).replace(/\/$/, '');
      const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
      const statuses = [];
      for (const spelling of [without, `${without}/`])
        statuses.push((await call(method, spelling, headers, method === 'GET' ? undefined : '{}')).status);
      expect([`${method} ${path}`, ...statuses]).toEqual([`${method} ${path}`, statuses[0], statuses[0]]);
      expect([`${method} ${path}`, statuses[0]! < 500]).toEqual([`${method} ${path}`, true]);
    }
  });

  test('one that does not exist is 404 with a detail, inside and outside the API', async () => {
    const { client } = await newOrganization();
    const { client: reader } = await newOrganization({ scopes: ['read'] });
    for (const [method, path] of [
      ['post', '/no-such-path'],
      ['put', '/contacts/1/no-such-path'],
      ['delete', '/calls'],
    ] as const)
      expect([path, (await reader[method](path)).status]).toEqual([path, 404]);
    for (const path of ['/no-such-path', '/contacts/1/no-such-path', '//contacts', '/contacts//'])
      expect(await client.get(path)).toMatchObject({ status: 404, body: { detail: expect.any(String) } });
    const outside = await exports.default.fetch(`${origin}/wp-login.php`);
    expect([outside.status, await outside.json()]).toEqual([404, { detail: 'No such path: GET /wp-login.php' }]);
  });

  test('a method that a path does not have is 404 with a detail', async () => {
    const { key } = await newOrganization();
    for (const [method, path] of [
      ['DELETE', '/health'],
      ['PATCH', '/contacts'],
      ['PUT', '/events'],
      ['PROPFIND', '/contacts'],
      ['OPTIONS', '/contacts'],
    ]) {
      const answer = await call(method!, path!, { 'X-API-Key': key });
      expect([method, answer.status, await answer.json()]).toEqual([method, 404, { detail: `No such path: ${method} /api/v1${path}` }]);
    }
  });

  test('HEAD answers as GET does, without the body', async () => {
    const { client, key } = await newOrganization();
    const got = await client.get('/contacts');
    const head = await call('HEAD', '/contacts', { 'X-API-Key': key });
    expect(head.status).toBe(200);
    expect(head.headers.get('content-type')).toBe(got.headers.get('content-type'));
    expect(head.headers.get('x-request-id')).toMatch(uuid);
    expect(await head.text()).toBe('');
    expect((await call('HEAD', '/contacts')).status).toBe(401);
    expect((await call('HEAD', '/contacts/999999999', { 'X-API-Key': key })).status).toBe(404);
  });
});

describe('ids in paths', () => {
  const wrong = ['abc', '0', '-1', '1.5', '1e3', '01', '%20', '9007199254740992', '9007199254740993', '99999999999999999999', '٣', 'null'];

  test('that are no positive integers below 2^53 are 422 in every operation, naming the parameter', async () => {
    const { key } = await newOrganization();
    const isNumber = (one: { in: string; schema: { type?: unknown } }) => one.in === 'path' && one.schema.type === 'integer';
    const withIds = operations.filter(({ parameters }) => parameters.some(isNumber));
    expect(withIds.length).toBeGreaterThan(20);
    for (const { method, path, parameters } of withIds) {
      const names = parameters.filter(isNumber).map(({ name }) => name);
      const query = parameters
        .filter((one) => one.in === 'query' && one.required)
        .map(({ name, schema }) => `${name}=${(schema['enum'] as string[] | undefined)?.[0] ?? 1}`);
      for (const value of wrong) {
        const answer = await call(
          method,
          `${filled(path, value)}?${query.join('&')}`,
          { 'X-API-Key': key, 'Content-Type': 'application/json' },
          method === 'GET' ? undefined : '{}',
        );
        const { detail } = (await answer.json()) as any;
        expect([`${method} ${path} ${value}`, answer.status]).toEqual([`${method} ${path} ${value}`, 422]);
        const places = detail.filter((issue: { loc: string[] }) => issue.loc[0] === 'path').map((issue: { loc: string[] }) => issue.loc[1]);
        expect([path, new Set(places)]).toEqual([path, new Set(names)]);
      }
    }
  });

  test('of the largest integer that is one are looked up', async () => {
    const { client } = await newOrganization();
    expect((await client.get(`/contacts/${Number.MAX_SAFE_INTEGER}`)).status).toBe(404);
  });
});

const whole = (parts: unknown) => btoa(JSON.stringify(parts)).replaceAll('=', '');

describe('pages', () => {
  const readings = operations.filter(({ method }) => method === 'GET');
  const takes = ({ parameters }: (typeof operations)[number], name: string): boolean => parameters.some((one) => one.name === name);
  const limited = readings.filter((one) => takes(one, 'limit'));
  /** A contact's timeline has no offset, and the most frequent questions have one page. */
  const lists = limited.filter((one) => takes(one, 'offset') && takes(one, 'cursor'));

  test('are of every answer with a limit but these, which have one page or go on by a cursor alone', () => {
    expect(limited.filter((one) => !lists.includes(one)).map(({ path }) => path)).toEqual([
      '/contacts/{contact_id}/timeline',
      '/automation-workflows/{workflow_id}/triggers/{trigger_id}/deliveries',
      '/automation-workflows/{workflow_id}/versions/{version}/movable-runs',
      '/statistics/knowledge',
      '/operations/stuck',
    ]);
  });

  test('take a limit of 1 to 500 and an offset of 0 or more, in every list', async () => {
    const { client } = await newOrganization();
    expect(lists.length).toBeGreaterThan(5);
    for (const operation of limited) {
      const { path } = operation;
      for (const [name, value] of [
        ['limit', '0'],
        ['limit', '-1'],
        ['limit', 'ten'],
        ['limit', '501'],
        ['limit', ''],
        ['limit', '1.5'],
        ['limit', '1e2'],
        ['offset', '-1'],
        ['offset', 'x'],
        ['offset', '9007199254740993'],
      ].filter(([parameter]) => takes(operation, parameter!))) {
        const answer = await client.get(`${filled(path)}?${name}=${value}`);
        expect([path, name, value, answer.status]).toEqual([path, name, value, 422]);
        expect(answer.body.detail).toEqual([{ loc: ['query', name], msg: expect.any(String), type: expect.any(String) }]);
      }
      expect((await client.get(`${filled(path)}?limit=1&limit=2`)).status).toBe(422);
    }
  });

  test('go by any cursor that was given, and by no other', async () => {
    const { client } = await newOrganization();
    const wrong = [
      '',
      'nonsense',
      '%F0%9F%98%80',
      whole({}),
      whole([]),
      whole([null]),
      whole([null, '5']),
      whole([null, 1.5]),
      whole([[], 5]),
      whole([true, 5]),
      btoa('[1e999,5]'),
      'x'.repeat(501),
    ];
    for (const { path } of lists.filter((one) => !one.path.includes('{'))) {
      for (const cursor of wrong) {
        const answer = await client.get(`${path}?cursor=${cursor}`);
        expect([path, cursor, answer.status]).toEqual([path, cursor, 422]);
        expect(answer.body.detail[0].loc).toEqual(['query', 'cursor']);
      }
      for (const position of [
        { value: null, id: 5 },
        { value: 'x', id: 5 },
        { value: -1e300, id: -5 },
        { value: 5, id: Number.MAX_SAFE_INTEGER },
      ])
        expect([200, 422]).toContain((await client.get(`${path}?cursor=${encodeCursor(position)}`)).status);
    }
  });

  test('have one envelope and the defaults that are promised', async () => {
    const { client } = await newOrganization();
    for (const { path, parameters } of lists.filter((one) => !one.path.includes('{')))
      expect((await client.get(path)).body).toMatchObject({
        total: expect.any(Number),
        // The list of campaigns has no page unless one is asked for: there are none here.
        limit: parameters.find(({ name }) => name === 'limit')!.schema['default'] ?? 0,
        offset: 0,
        next_cursor: null,
      });
    expect((await client.get('/contacts?limit=500&offset=100000000')).body).toMatchObject({
      contacts: [],
      limit: 500,
      offset: 100_000_000,
    });
  });
});

describe('a request id', () => {
  test('is on every answer: success, refusal, redirect, file and failure', async () => {
    const { client, key } = await newOrganization();
    const broken = new Client(key, withBrokenDatabase);
    const answers = [
      await client.get('/contacts'),
      await client.post('/contacts', '{"mal'),
      await client.post('/contacts', { email: 5 }),
      await client.get('/contacts/999999999'),
      await client.get('/no-such-path'),
      await client.post('/contacts', 'x', { 'Content-Type': 'text/plain' }),
      await anonymous.get('/contacts'),
      await anonymous.get('/health'),
      await anonymous.get('/openapi.json'),
      await exports.default.fetch(`${origin}/docs/`),
      await exports.default.fetch(`${origin}/docs/viewer/swagger-ui.css`),
      await exports.default.fetch(`${origin}/docs/missing.js`),
      await exports.default.fetch(`${origin}/elsewhere`),
    ];
    await linesLoggedBy(async () => answers.push(await broken.get('/contacts')));
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(uuid);
    expect(new Set(ids).size).toBe(ids.length);
    expect(answers.at(-1)!.status).toBe(500);
  });

  test("is the caller's own where it is a short word, and never what a log could choke on", async () => {
    const { client } = await newOrganization();
    expect((await client.get('/contacts', { 'X-Request-Id': 'trace-1.A_b' })).headers.get('x-request-id')).toBe('trace-1.A_b');
    for (const id of ['two words', 'x'.repeat(65), '"},{"level":"error"', 'a/b', 'é'])
      expect((await client.get('/contacts', { 'X-Request-Id': id })).headers.get('x-request-id')).toMatch(uuid);
  });
});

describe('a failure', () => {
  test('is 500 without a word of what is inside', async () => {
    const { key } = await newOrganization();
    const client = new Client(key, withBrokenDatabase);
    const answers: { status: number; body: unknown }[] = [];
    const lines = await linesLoggedBy(async () => {
      answers.push(await client.get('/contacts'));
      answers.push(await client.post('/events', { event_type: 'x' }));
      answers.push(await client.get('/organizations/current'));
    });
    for (const { status, body } of answers) {
      expect(status).toBe(500);
      expect(body).toEqual({ detail: 'Internal server error' });
    }
    expect(lines.join('\n')).toContain('SQLITE_ERROR');
  });

  test('before anybody is known is 500 too', async () => {
    const { key } = await newOrganization();
    const unreachable = serviceWith({
      DB: recordedDatabase(env.DB, { statements: [], calls: 0 }, async () => Promise.reject(new Error('D1 is down'))),
    });
    const lines = await linesLoggedBy(async () => {
      expect(await new Client(key, unreachable).get('/contacts')).toMatchObject({ status: 500, body: { detail: 'Internal server error' } });
    });
    expect(lines.join('\n')).toContain('D1 is down');
  });
});
