import { relativeEndpoint, isSiblingDomain } from '../../src/providers/broker/composio-endpoint.ts';
import { describe, expect, test } from 'vitest';
import { isTrackerSubdomain } from '../../src/providers/broker/connection-params.ts';
import { createBroker } from '../../src/providers/broker/composio.ts';
import type { Runtime } from '../../src/providers/http/runtime.ts';
import { apiKey, brokerSettings, owner, startWorld, success } from './broker-world.ts';

interface Asked {
  method: string;
  url: URL;
  key: string | null;
  body: any;
}

/** The adapter alone: every request is answered by `answer`. */
function withFake(answer: (asked: Asked, index: number) => Response | Promise<Response>, authConfigs?: string) {
  const asked: Asked[] = [];
  const waits: number[] = [];
  const runtime: Runtime = {
    now: () => 1_700_000_000_000,
    random: () => 0,
    sleep: async (milliseconds) => void waits.push(milliseconds),
    async fetch(input, init = {}) {
      const key = new Headers(init.headers).get('x-api-key');
      const body = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
      asked.push({ method: init.method ?? 'GET', url: new URL(String(input)), key, body });
      return answer(asked.at(-1)!, asked.length - 1);
    },
  };
  return { broker: createBroker(brokerSettings('https://broker.test/api/v3.1/', apiKey, authConfigs), runtime), asked, waits };
}

const refusal = (status: number, message: string, more: object = {}, headers: Record<string, string> = {}) =>
  Response.json({ error: { message, status, ...more } }, { status, headers });
const account = (more: object = {}) => ({
  id: 'ca_1',
  user_id: owner,
  status: 'ACTIVE',
  status_reason: null,
  toolkit: { slug: 'slack' },
  auth_config: { id: 'ac_slack' },
  state: { val: { access_token: 'canary-token-of-slack' } },
  ...more,
});
const slackRequest = { method: 'GET', url: 'https://slack.com/api/conversations.list' } as const;

describe('connecting', () => {
  test('goes from pending over consent to active, and is then found as the active one of its owner', async () => {
    const { broker, consent } = await startWorld();
    expect(await broker.findActive(owner, 'chatapp')).toEqual({ connection: null });
    const { requestId, redirectUrl, expiresAt } = await success(broker.start(owner, 'chatapp', {}, 'https://app.test/back?tab=1'));
    expect(Date.parse(expiresAt!) - Date.now()).toBeGreaterThan(9 * 60_000);
    const pending = { id: requestId, owner, app: 'chatapp', status: 'pending' };
    expect(await broker.get(requestId)).toEqual({ connection: pending });
    await fetch(redirectUrl);
    expect(await broker.get(requestId)).toEqual({ connection: pending });

    const answer = await consent(redirectUrl, 'decision=approve');
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe(`https://app.test/back?tab=1&status=success&connected_account_id=${requestId}`);
    const active = { connection: { ...pending, status: 'active' } };
    expect(await broker.get(requestId)).toEqual(active);
    expect(await broker.findActive(owner, 'chatapp')).toEqual(active);
    expect(await broker.findActive(owner, 'tracker')).toEqual({ connection: null });
    expect(await broker.findActive('org_43', 'chatapp')).toEqual({ connection: null });
  });

  test('that is refused fails, and one that nobody finishes expires after ten minutes', async () => {
    const { broker, consent, post } = await startWorld();
    const denied = await success(broker.start(owner, 'calendar'));
    await consent(denied.redirectUrl, 'decision=deny');
    expect(await broker.get(denied.requestId)).toMatchObject({ connection: { status: 'failed', app: 'calendar' } });
    const forgotten = await success(broker.start(owner, 'calendar'));
    await post('/composio/__sim/clock', { advance_seconds: 601 });
    expect(await broker.get(forgotten.requestId)).toMatchObject({
      connection: { status: 'expired', reason: 'Connection initiation did not complete within 10 minutes' },
    });
    expect((await consent(forgotten.redirectUrl, 'decision=approve')).status).toBe(410);
  });

  test('of an id that nobody was given, or that another key made, finds nothing', async () => {
    const { broker, url } = await startWorld();
    expect(await broker.get('ca_unknown')).toEqual({ connection: null });
    const { requestId } = await success(broker.start(owner, 'sheet'));
    const other = createBroker(brokerSettings(`${url}/composio/api/v3.1`, 'another-key'));
    expect(await other.get(requestId)).toEqual({ connection: null });
  });

  test('asks the broker for exactly this', async () => {
    const { broker, asked } = withFake(({ method }) =>
      method === 'GET'
        ? Response.json({ items: [] })
        : Response.json({ link_token: 'lk', redirect_url: 'https://b.test/lk', connected_account_id: 'ca_1' }, { status: 201 }),
    );
    await broker.findActive(owner, 'chatapp');
    expect([asked[0]!.method, asked[0]!.url.pathname, asked[0]!.key]).toEqual(['GET', '/api/v3.1/connected_accounts', apiKey]);
    expect(Object.fromEntries(asked[0]!.url.searchParams)).toEqual({
      user_ids: owner,
      auth_config_ids: 'ac_slack',
      statuses: 'ACTIVE',
      limit: '1',
      order_by: 'created_at',
      order_direction: 'desc',
    });
    expect(await broker.start(owner, 'chatapp')).toEqual({ requestId: 'ca_1', redirectUrl: 'https://b.test/lk' });
    await broker.start(owner, 'tracker', { subdomain: 'acme' }, 'https://app.test/back');
    await broker.start(owner, 'books');
    await broker.start(owner, 'books', { region: 'com.au' });
    expect(asked.slice(1).map(({ body }) => body)).toEqual([
      { auth_config_id: 'ac_slack', user_id: owner },
      {
        auth_config_id: 'ac_jira',
        user_id: owner,
        callback_url: 'https://app.test/back',
        connection_data: { subdomain: 'acme', 'your-domain': 'acme' },
      },
      { auth_config_id: 'ac_zohobooks', user_id: owner, connection_data: { extension: 'com', 'suffix.one': 'com' } },
      { auth_config_id: 'ac_zohobooks', user_id: owner, connection_data: { extension: 'com.au', 'suffix.one': 'com.au' } },
    ]);
  });

  test.each([
    '',
    'acme.atlassian.net',
    'https://acme',
    'acme/evil',
    'acme@evil',
    '-acme',
    'acme-',
    'a b',
    'ac%2fme',
    'acme\n',
    '127.0.0.1',
  ])('to the tracker site %j is refused before the broker is asked', async (subdomain) => {
    const { broker, asked } = withFake(() => new Response());
    expect(isTrackerSubdomain(subdomain)).toBe(false);
    expect(await broker.start(owner, 'tracker', { subdomain })).toMatchObject({ failure: 'rejected' });
    expect(await broker.start(owner, 'books', { region: 'com.evil' })).toMatchObject({ failure: 'rejected' });
    expect(asked).toEqual([]);
  });

  test('is not fooled by a broker that gives the connection of somebody else, or one that is not active', async () => {
    for (const wrong of [{ user_id: 'org_43' }, { status: 'EXPIRED' }, { is_disabled: true }, { auth_config: { id: 'ac_jira' } }]) {
      const { broker } = withFake(() => Response.json({ items: [account(wrong)] }));
      expect(await broker.findActive(owner, 'chatapp')).toEqual({ connection: null });
    }
  });
});

describe('a connection', () => {
  test.each([
    ['INITIALIZING', 'pending'],
    ['INITIATED', 'pending'],
    ['ACTIVE', 'active'],
    ['FAILED', 'failed'],
    ['EXPIRED', 'expired'],
    ['INACTIVE', 'disabled'],
    ['REVOKED', 'revoked'],
    ['SOMETHING_NEW', 'pending'],
  ])('that the broker calls %s is %s', async (status, expected) => {
    const { broker } = withFake(() => Response.json(account({ status })));
    expect(await broker.get('ca_1')).toEqual({ connection: { id: 'ca_1', owner, app: 'chatapp', status: expected } });
  });

  test('tells nothing of its tokens', async () => {
    const { broker } = withFake(() => Response.json(account()));
    expect(JSON.stringify(await broker.get('ca_1'))).not.toContain('canary-token');
  });

  test('of an auth config that is no longer configured is known by its toolkit, another one is of no app', async () => {
    const appOf = async (more: object) => {
      const { connection } = await success(withFake(() => Response.json(account(more))).broker.get('ca_1'));
      return connection!.app;
    };
    expect(await appOf({ auth_config: { id: 'ac_old' } })).toBe('chatapp');
    expect(await appOf({ auth_config: { id: 'ac_old' }, toolkit: { slug: 'zoho_books' } })).toBe('books');
    expect(await appOf({ auth_config: { id: 'ac_old' }, toolkit: { slug: 'gmail' } })).toBeUndefined();
  });
});

describe('revoking', () => {
  test('ends the grant and forgets the connection, and twice is once', async () => {
    const { broker, connect } = await startWorld();
    const { id } = await connect('chatapp');
    expect(await broker.revoke(id)).toEqual({ isRevoked: true });
    expect(await broker.get(id)).toEqual({ connection: null });
    expect(await broker.findActive(owner, 'chatapp')).toEqual({ connection: null });
    expect(await broker.request(id, slackRequest)).toMatchObject({ failure: 'not_connected' });
    expect(await broker.revoke(id)).toEqual({ isRevoked: true });
  });

  test.each([500, 501])('that the broker cannot do (%d) still forgets the connection, and says so', async (status) => {
    const { broker, asked } = withFake(({ method }) => (method === 'POST' ? refusal(status, 'no') : Response.json({ success: true })));
    expect(await broker.revoke('ca_1')).toEqual({ isRevoked: false });
    expect(asked.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)).toEqual([
      'POST /api/v3.1/connected_accounts/ca_1/revoke',
      'DELETE /api/v3.1/connected_accounts/ca_1?revoke_on_delete=true',
    ]);
  });

  test('that fails as a whole is a failure', async () => {
    const { broker } = withFake(() => refusal(503, 'down'));
    expect(await broker.revoke('ca_1')).toEqual({
      failure: 'unavailable',
      message: 'The connection broker failed with status 503',
    });
  });
});

describe('a request to a provider', () => {
  test('is sent as the proxy wants it, and answered as the provider answered', async () => {
    const { broker, asked } = withFake(() =>
      Response.json({ status: 404, headers: { 'Retry-After': 3 }, data: { error: 'x', id: 1 }, binary_data: null }),
    );
    const answer = await broker.request('ca_1', {
      method: 'PUT',
      url: 'https://sheets.googleapis.com/v4/spreadsheets/1',
      query: { ranges: ['A', 'B'], x: '1' },
      headers: { 'x-thing': 'y' },
      body: { values: [] },
    });
    expect(answer).toEqual({ status: 404, headers: { 'retry-after': '3' }, data: { error: 'x', id: 1 } });
    expect([asked[0]!.method, asked[0]!.url.pathname]).toEqual(['POST', '/api/v3.1/tools/execute/proxy']);
    expect(asked[0]!.body).toEqual({
      connected_account_id: 'ca_1',
      endpoint: 'https://sheets.googleapis.com/v4/spreadsheets/1',
      method: 'PUT',
      parameters: [
        { name: 'ranges', value: 'A', type: 'query' },
        { name: 'ranges', value: 'B', type: 'query' },
        { name: 'x', value: '1', type: 'query' },
        { name: 'x-thing', value: 'y', type: 'header' },
      ],
      body: { values: [] },
    });
  });

  test('keeps integers that JavaScript would round, and JSON that came as text', async () => {
    const large = withFake(() => new Response('{"status":200,"headers":null,"data":{"id":9007199254740993}}'));
    expect(await large.broker.request('ca_1', slackRequest)).toMatchObject({ data: { id: '9007199254740993' } });
    const asText = withFake(() => Response.json({ status: 200, data: '{"ok":true}' }));
    expect(await asText.broker.request('ca_1', slackRequest)).toEqual({ status: 200, headers: {}, data: { ok: true } });
    const noJson = withFake(() => Response.json({ status: 502, data: '<html>' }));
    expect(await noJson.broker.request('ca_1', slackRequest)).toMatchObject({ status: 502, data: '<html>' });
  });

  test.each([
    ['EXPIRED', 'not_connected'],
    ['REVOKED', 'not_connected'],
    ['INACTIVE', 'not_connected'],
    ['FAILED', 'not_connected'],
  ])('over a connection that is %s is %s', async (status, failure) => {
    const { broker, connect, post } = await startWorld();
    const { id } = await connect('chatapp');
    await post(`/composio/__sim/accounts/${id}`, { status });
    expect(await broker.request(id, slackRequest)).toMatchObject({ failure, message: expect.stringContaining('connect it again') });
  });

  test.each([
    ['https://www.zohoapis.com/books/v3', '/contacts/7'],
    ['https://books.zoho.com/api/v3', '/contacts/7'],
    ['https://books.zoho.com/api/v3/', '/contacts/7'],
    ['https://books.zoho.{{extension}}', '/books/v3/contacts/7'],
    ['https://books.zoho.com/api', '/books/v3/contacts/7'],
  ])('below %s is sent to %s', (base, endpoint) => {
    expect(relativeEndpoint(base, 'https://www.zohoapis.com/books/v3/contacts/7')).toBe(endpoint);
  });

  test('may go to another domain of the same owner, and to no other data centre or company', () => {
    const zoho = 'https://www.zohoapis.com/books/v3/contacts';
    expect(isSiblingDomain('https://books.zoho.com/api/v3', zoho)).toBe(true);
    expect(isSiblingDomain('https://books.zoho.{{extension}}/api/v3', zoho)).toBe(true);
    expect(isSiblingDomain('https://books.zoho.com.au', 'https://www.zohoapis.com.au/books/v3')).toBe(true);
    for (const base of [
      'https://www.zohoapis.in/books/v3',
      'https://slack.com/api',
      'http://books.zoho.com',
      'https://zoho.evil.test',
      'nonsense',
    ])
      expect([base, isSiblingDomain(base, zoho)]).toEqual([base, false]);
  });

  test('that the broker does not let leave the domain is taken below the base of its toolkit, once', async () => {
    const asked: { url: string; endpoint: unknown }[] = [];
    const answer = (url: string, body: any) => {
      asked.push({ url: new URL(url).pathname, endpoint: body?.endpoint });
      if (url.endsWith('/proxy') && String(body.endpoint).startsWith('https:'))
        return Response.json({ error: { message: 'no', slug: 'OriginMismatch', status: 400 } }, { status: 400 });
      if (url.endsWith('/proxy')) return Response.json({ status: 200, data: { ok: true }, headers: {} });
      if (url.includes('/toolkits/')) return Response.json({ slug: 'zoho_books', meta: {}, base_url: 'https://books.zoho.com/api/v3' });
      return Response.json({ id: 'ca_1', user_id: owner, status: 'ACTIVE', toolkit: { slug: 'zoho_books' } });
    };
    const runtime = {
      fetch: async (url: string | URL, init?: RequestInit) => answer(String(url), init?.body ? JSON.parse(String(init.body)) : undefined),
      sleep: async () => undefined,
      random: () => 0,
      now: Date.now,
    };
    const broker = createBroker(brokerSettings('https://broker.example.com/api/v3.1'), runtime as never);
    const request = { method: 'GET', url: 'https://www.zohoapis.com/books/v3/contacts' } as const;
    expect(await broker.request('ca_1', request)).toMatchObject({ status: 200, data: { ok: true } });
    expect(asked.map(({ url }) => url.split('/').slice(3).join('/'))).toEqual([
      'tools/execute/proxy',
      'connected_accounts/ca_1',
      'toolkits/zoho_books',
      'tools/execute/proxy',
    ]);
    expect(asked.at(-1)!.endpoint).toBe('/contacts');
  });

  test('to a host that is not of its app is refused, so that no provider sees the token of another', async () => {
    const { broker, connect, received } = await startWorld();
    const { id } = await connect('chatapp');
    for (const url of [
      'https://api.atlassian.com/oauth/token/accessible-resources',
      'https://slack.com.evil.test/api/x',
      'http://slack.com/api/x',
    ])
      expect(await broker.request(id, { method: 'GET', url })).toMatchObject({ failure: 'rejected', code: 'OriginMismatch' });
    expect(await received('slack')).toEqual([]);
  });

  test('whose answer is lost on the way is unavailable', async () => {
    const { broker, connect, plan } = await startWorld();
    const { id } = await connect('chatapp');
    await plan({ provider: 'slack', drop_response: true });
    expect(await broker.request(id, slackRequest)).toMatchObject({ failure: 'unavailable', code: 'HTTP_GatewayTimeout' });
    await plan({ provider: 'composio', drop_response: true });
    expect(await broker.request(id, slackRequest)).toEqual({ failure: 'unavailable', message: 'The connection broker cannot be reached' });
  });
});

describe('the broker', () => {
  test.each([
    [404, { code: 606, slug: 'ConnectedAccount_ResourceNotFound' }, 'Connected account "ca_1" not found', 'not_connected'],
    [404, { code: 1810, slug: 'ActionExecute_ConnectedAccountNotFound' }, 'No connected account found', 'not_connected'],
    [400, { slug: 'ActionExecute_ConnectedAccountExpired' }, 'Connected account is in EXPIRED state', 'not_connected'],
    [422, {}, 'Account ca_1 is in INITIATED state', 'not_connected'],
    [401, { slug: 'InvalidApiKey' }, 'Invalid API key', 'rejected'],
    [403, {}, 'Proxy execute is not enabled for this API key', 'rejected'],
    [400, { slug: 'HTTP_BadRequest' }, 'endpoint is wrong', 'rejected'],
    [302, {}, '', 'rejected'],
    [404, {}, '', 'rejected'],
    [408, {}, '', 'unavailable'],
    [500, {}, 'oops', 'unavailable'],
    [502, {}, 'oops', 'unavailable'],
  ])('that answers %d %j is understood', async (status, more, message, failure) => {
    const { broker, waits } = withFake(() => refusal(status, message, more));
    expect(await broker.request('ca_1', slackRequest)).toMatchObject({ failure });
    expect(waits).toEqual([]);
  });

  test('that is busy is heeded, in seconds, as a date, and no longer than an hour', async () => {
    const waitOf = async (value: string) => {
      const { broker } = withFake(() => refusal(429, 'slow', {}, { 'retry-after': value }));
      return (await broker.request('ca_1', slackRequest)) as { retryAfterSeconds?: number };
    };
    expect(await waitOf('7')).toMatchObject({ failure: 'rate_limited', retryAfterSeconds: 7 });
    expect(await waitOf('Tue, 14 Nov 2023 22:14:20 GMT')).toMatchObject({ retryAfterSeconds: 60 });
    expect(await waitOf('86400')).toMatchObject({ retryAfterSeconds: 3600 });
    expect((await waitOf('soon')).retryAfterSeconds).toBeUndefined();
  });

  test('is asked again up to three times for what only reads, never for what changes something', async () => {
    const passing = withFake((_asked, index) => (index < 2 ? refusal(503, 'down') : Response.json(account())));
    expect(await passing.broker.get('ca_1')).toMatchObject({ connection: { status: 'active' } });
    expect(passing.waits).toEqual([250, 500]);
    const lasting = withFake(() => refusal(503, 'down'));
    expect(await lasting.broker.get('ca_1')).toMatchObject({ failure: 'unavailable' });
    expect(lasting.asked).toHaveLength(3);
    const long = withFake(() => refusal(429, 'slow', {}, { 'retry-after': '30' }));
    expect(await long.broker.findActive(owner, 'chatapp')).toMatchObject({ failure: 'rate_limited', retryAfterSeconds: 30 });
    expect(long.asked).toHaveLength(1);
    const starting = withFake(() => refusal(503, 'down'));
    expect(await starting.broker.start(owner, 'chatapp')).toMatchObject({ failure: 'unavailable' });
    expect(starting.asked).toHaveLength(1);
  });

  test.each([
    ['no JSON', () => new Response('<html>'), 'no JSON'],
    ['nothing', () => new Response(''), 'no JSON'],
    ['a list', () => Response.json([]), 'should not'],
    ['other fields', () => Response.json({ data: {} }), 'should not'],
    ['a status that is none', () => Response.json({ status: 7, data: {} }), 'should not'],
  ])('that answers %s is unavailable', async (_name, answer, words) => {
    const { broker } = withFake(answer);
    expect(await broker.request('ca_1', slackRequest)).toEqual({ failure: 'unavailable', message: expect.stringContaining(words) });
  });

  test('is not waited for without end, nor read without end', async () => {
    const silent = withFake(() => Promise.reject(new DOMException('late', 'TimeoutError')));
    expect(await silent.broker.request('ca_1', slackRequest)).toEqual({
      failure: 'unavailable',
      message: 'The connection broker gave no answer within 25 seconds',
    });
    const endless = withFake(
      () =>
        new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)) }, { highWaterMark: 0 })),
    );
    expect(await endless.broker.request('ca_1', slackRequest)).toMatchObject({
      failure: 'rejected',
      message: expect.stringContaining('longer'),
    });
  });

  test('that is not configured says what to set, and is not asked', async () => {
    const { url } = await startWorld();
    const none = createBroker(brokerSettings(`${url}/composio/api/v3.1`, ''));
    const said = { failure: 'rejected', message: expect.stringContaining('COMPOSIO_API_KEY') };
    expect(await none.findActive(owner, 'chatapp')).toEqual(said);
    expect(await none.start(owner, 'chatapp')).toEqual(said);
    expect(await none.get('ca_1')).toEqual(said);
    expect(await none.revoke('ca_1')).toEqual(said);
    expect(await none.request('ca_1', slackRequest)).toEqual(said);
    const { broker, asked } = withFake(() => new Response(), 'chatapp=ac_slack');
    expect(await broker.start(owner, 'books')).toMatchObject({ failure: 'rejected', message: expect.stringContaining('books=ac_') });
    expect(await broker.findActive(owner, 'books')).toMatchObject({ failure: 'rejected' });
    expect(asked).toEqual([]);
  });

  test('that refuses the key, or does not let it call providers, is reported with what to set', async () => {
    const wrong = await startWorld({ key: 'invalid' });
    expect(await wrong.broker.start(owner, 'chatapp')).toMatchObject({
      failure: 'rejected',
      message: expect.stringContaining('set COMPOSIO_API_KEY to a valid one'),
    });
    const narrow = await startWorld({ key: 'noproxy' });
    const { id } = await narrow.connect('chatapp');
    expect(await narrow.broker.request(id, slackRequest)).toMatchObject({
      failure: 'rejected',
      message: expect.stringContaining('proxy execute'),
    });
  });

  test('that redirects is not followed, since the key would go along', async () => {
    const { broker, plan, received, url } = await startWorld();
    await plan({ provider: 'composio', status: 307, headers: { location: `${url}/receiver/elsewhere` } });
    expect(await broker.request('ca_1', slackRequest)).toMatchObject({
      failure: 'rejected',
      message: expect.stringContaining('COMPOSIO_BASE_URL'),
    });
    expect(await received('receiver')).toEqual([]);
  });

  test('never has its key repeated in a failure', async () => {
    const { broker } = withFake(() => refusal(400, `bad key ${apiKey}`));
    const failure = await broker.request('ca_1', slackRequest);
    expect(JSON.stringify(failure)).not.toContain(apiKey);
    expect(failure).toMatchObject({ message: expect.stringContaining('****') });
  });
});
