import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { linesLoggedBy, serviceWith } from '../http/service.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { recordedClient, rowsRead } from '../support/recorded-database.ts';
import { anthropicError, claude, claudeKey, createModel, gpt, gptKey, path, stubVendors } from './own-vendors.ts';

afterEach(() => vi.restoreAllMocks());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const storedRow = (id: number) => env.DB.prepare('SELECT * FROM language_model WHERE id = ?').bind(id).first<any>();
const expectNoSecret = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  for (const secret of [claudeKey, gptKey, 'sealed:']) expect(text).not.toContain(secret);
};

describe('a language model', () => {
  test('of Anthropic is tested, stored with its key sealed, and shown with its key masked', async () => {
    const { asked } = stubVendors();
    const { client, id: organizationId } = await newOrganization();
    const body = await createModel(client, claude({ prompt_usd_per_million: 1.5 }));
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'Claude',
      provider: 'anthropic',
      base_url: 'https://claude.example.com',
      model: 'claude-haiku-4-5',
      api_key: '****4711',
      purposes: { talk: 1, extraction: 1, judge: null, journey: null },
      first_token_seconds: 4,
      prompt_usd_per_million: 1.5,
      completion_usd_per_million: null,
      created_at: timestamp,
      updated_at: timestamp,
    });
    expect((await client.get(`${path}/${body.id}`)).body).toEqual(body);
    expect((await client.get(path)).body).toMatchObject({ language_models: [body], total: 1, next_cursor: null });
    expect(asked.map(({ headers, body: sent }) => [headers.get('x-api-key'), sent['stream'] === true]).toSorted()).toEqual([
      [claudeKey, false],
      [claudeKey, true],
    ]);
    expect(await storedRow(body.id)).toMatchObject({ organization_id: organizationId, api_key: expect.stringMatching(/^sealed:v1:/) });
  });

  test('is tested for what its purposes need, and no more', async () => {
    const { asked } = stubVendors();
    const { client } = await newOrganization();
    for (const [purposes, needs] of [
      [{ talk: 1 }, ['tools']],
      [{ judge: 1, journey: 3 }, ['schema']],
      [{ talk: 2, extraction: 2 }, ['schema', 'tools']],
      [{}, ['plain']],
    ] as const) {
      asked.length = 0;
      await createModel(client, gpt({ purposes }));
      const kinds = asked.map(({ body }) => (body['tools'] ? 'tools' : body['response_format'] ? 'schema' : 'plain'));
      expect(kinds.toSorted()).toEqual(needs);
    }
  });

  test('without an address of its own is asked at the address that the service is set to', async () => {
    const { service } = stubVendors();
    const { client } = await newOrganization();
    const body = await createModel(client, gpt({ base_url: null, purposes: { judge: 1 } }));
    expect(body.base_url).toBeNull();
    expect(service()).toHaveLength(1);
    expect(await createModel(client, claude({ base_url: null }))).toMatchObject({ base_url: null, provider: 'anthropic' });
  });

  test('is tested again on request, and tells what is wrong without a word of the key', async () => {
    let isRevoked = false;
    stubVendors(() => (isRevoked ? anthropicError(401, 'authentication_error', 'invalid x-api-key') : undefined));
    const { client } = await newOrganization();
    const { id } = await createModel(client, claude());
    expect(await client.post(`${path}/${id}/test`)).toMatchObject({
      status: 200,
      body: {
        passed: true,
        abilities: [
          {
            ability: 'tools',
            passed: true,
            failure: null,
            message: null,
            answered_by: 'claude-haiku-4-5',
            tokens: { prompt: expect.any(Number) },
          },
          { ability: 'structured_output', passed: true, failure: null, duration_ms: expect.any(Number) },
        ],
      },
    });
    isRevoked = true;
    const failed = await client.post(`${path}/${id}/test`);
    expect(failed).toMatchObject({
      status: 200,
      body: {
        passed: false,
        abilities: [{ failure: 'invalid_credentials', message: expect.stringContaining('api_key'), answered_by: null }, {}],
      },
    });
    expectNoSecret(failed);
  });

  test('is deleted, and is then unknown', async () => {
    stubVendors();
    const { client } = await newOrganization();
    const { id } = await createModel(client, gpt());
    expect((await client.delete(`${path}/${id}`)).body).toEqual({ status: 'deleted' });
    for (const answer of [await client.get(`${path}/${id}`), await client.delete(`${path}/${id}`), await client.post(`${path}/${id}/test`)])
      expect(answer).toMatchObject({ status: 404, body: { detail: 'Language model not found' } });
  });
});

describe('a model that does not pass its test is not saved, and the answer names the field:', () => {
  const openAiError = (status: number, code: string) =>
    Response.json({ error: { message: gptKey, type: 'x', param: null, code } }, { status });
  const refusesTools = (body: Record<string, any>) => (body['tools'] ? openAiError(400, 'tools_unsupported') : undefined);
  const refusesSchemas = (body: Record<string, any>) => (body['response_format'] ? openAiError(400, 'unsupported_value') : undefined);
  const stream = (...chunks: object[]) =>
    new Response([...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join(''), {
      headers: { 'content-type': 'text/event-stream' },
    });
  const says = (content: string) => stream({ choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] });

  test.each<[string, object, (body: Record<string, any>) => Response | undefined, string[], string, RegExp]>([
    [
      'a refused key',
      gpt({ api_key: 'sk-invalid-key-of-gpt' }),
      () => undefined,
      ['api_key'],
      'invalid_credentials',
      /does not know the key; set api_key/,
    ],
    [
      'a refused key of Anthropic',
      claude({ api_key: 'sk-invalid-key' }),
      () => undefined,
      ['api_key'],
      'invalid_credentials',
      /set api_key/,
    ],
    ['an empty account', gpt(), () => openAiError(429, 'insufficient_quota'), ['api_key'], 'insufficient_quota', /no credit left/],
    ['an unknown model', gpt({ model: 'llama' }), () => undefined, ['model'], 'model_not_found', /no model "llama" for this key/],
    ['an unknown model of Anthropic', claude({ model: 'gpt-6' }), () => undefined, ['model'], 'model_not_found', /no model "gpt-6"/],
    [
      'an address without the API',
      gpt(),
      () => new Response('nothing', { status: 404 }),
      ['base_url'],
      'invalid_request',
      /at base_url: status 404/,
    ],
    ['a server that fails', gpt(), () => new Response('', { status: 500 }), ['base_url'], 'provider_failed', /status 500/],
    ['a limit that is reached', claude(), () => anthropicError(429, 'rate_limit_error'), ['model'], 'rate_limited', /no more requests/],
    [
      'a server that refuses tools',
      gpt({ purposes: { talk: 1 } }),
      refusesTools,
      ['purposes', 'talk'],
      'tools_not_supported',
      /does not call tools/,
    ],
    [
      'a model that calls no tools',
      gpt({ purposes: { talk: 1 } }),
      () => says('Confirmed.'),
      ['purposes', 'talk'],
      'tools_not_supported',
      /without the tool/,
    ],
    [
      'a server that refuses schemas',
      gpt({ purposes: { judge: 1 } }),
      refusesSchemas,
      ['purposes', 'judge'],
      'structured_output_not_supported',
      /by a schema/,
    ],
    [
      'a model that keeps to no schema',
      gpt({ purposes: { journey: 1 } }),
      () => Response.json({ choices: [{ finish_reason: 'stop', message: { content: 'Sure: it works' } }] }),
      ['purposes', 'journey'],
      'structured_output_not_supported',
      /no JSON/,
    ],
  ])('%s', async (_case, body, answer, loc, type, message) => {
    stubVendors(({ body: sent }) => answer(sent));
    const { client } = await newOrganization();
    const { status, body: refused } = await client.post(path, body);
    expect([status, refused.detail]).toEqual([422, [{ loc: ['body', ...loc], msg: expect.stringMatching(message), type }]]);
    expectNoSecret(refused);
    expect((await client.get(path)).body.total).toBe(0);
  });

  test('each problem, where several abilities have one', async () => {
    stubVendors(({ body }) => refusesTools(body) ?? refusesSchemas(body));
    const { client } = await newOrganization();
    const { body } = await client.post(path, gpt({ purposes: { talk: 1, extraction: 1 } }));
    expect(body.detail.map(({ type }: any) => type)).toEqual(['tools_not_supported', 'structured_output_not_supported']);
  });
});

describe('what is refused before anything is asked:', () => {
  test.each<[string, object, string[], RegExp]>([
    ['the private address of a machine', { base_url: 'https://10.0.0.8/v1' }, ['base_url'], /10\.0\.0\.8 is a private address/],
    ['the address of this machine', { base_url: 'https://127.0.0.1:9/v1' }, ['base_url'], /loopback/],
    ['the metadata of a cloud', { base_url: 'http://169.254.169.254/latest' }, ['base_url'], /169\.254\.169\.254/],
    ['a private name', { base_url: 'https://vault.internal/v1' }, ['base_url'], /private name/],
    ['an address without encryption', { base_url: 'http://gpt.example.com/v1' }, ['base_url'], /https:\/\//],
    ['a key in the address', { base_url: 'https://gpt.example.com/v1?key=abc' }, ['base_url'], /query/],
    ['credentials in the address', { base_url: 'https://me:secret@gpt.example.com/v1' }, ['base_url'], /credentials/],
    ['no address at all', { base_url: 'gpt' }, ['base_url'], /address such as/],
    ['no key', { api_key: ' ' }, ['api_key'], /not be empty/],
    ['a mask without a key', { api_key: '****0815' }, ['api_key'], /mask/],
    ['a key with a line break', { api_key: 'sk-a\nb' }, ['api_key'], /line breaks/],
    ['another provider', { provider: 'gemini' }, ['provider'], /./],
    ['a purpose that there is none', { purposes: { dream: 1 } }, ['purposes', 'dream'], /./],
    ['a place below one', { purposes: { talk: 0 } }, ['purposes', 'talk'], /1 or more/],
    ['a deadline beyond that of a talk', { first_token_seconds: 60 }, ['first_token_seconds'], /15 or less/],
    ['a price below zero', { prompt_usd_per_million: -1 }, ['prompt_usd_per_million'], /0 or more/],
  ])('%s', async (_case, more, loc, message) => {
    const { asked } = stubVendors();
    const { client } = await newOrganization();
    const { status, body } = await client.post(path, gpt(more));
    expect([status, body.detail]).toEqual([
      422,
      [{ loc: ['body', ...loc], msg: expect.stringMatching(message), type: expect.any(String) }],
    ]);
    expect(asked).toEqual([]);
  });
});

describe('a replacement', () => {
  test('keeps the key that it leaves out or masks, and a record that was read can be sent back', async () => {
    stubVendors();
    const { client } = await newOrganization();
    const before = await createModel(client, gpt());
    const { api_key: sealed } = await storedRow(before.id);
    for (const api_key of [undefined, null, before.api_key]) {
      const { status, body } = await client.put(`${path}/${before.id}`, { ...before, api_key, name: 'Renamed' });
      expect([status, body]).toEqual([200, { ...before, name: 'Renamed', updated_at: timestamp }]);
    }
    expect((await storedRow(before.id)).api_key).toBe(sealed);
  });

  test('needs the key for another address or provider: else the stored one could be sent anywhere', async () => {
    const { asked } = stubVendors();
    const { client } = await newOrganization();
    const before = await createModel(client, gpt());
    asked.length = 0;
    for (const change of [{ base_url: 'https://elsewhere.example.com/v1' }, { base_url: null }, { provider: 'anthropic' }]) {
      const { status, body } = await client.put(`${path}/${before.id}`, { ...before, ...change });
      expect([status, body.detail[0].loc]).toEqual([422, ['body', 'api_key']]);
    }
    expect([asked, (await client.get(`${path}/${before.id}`)).body]).toEqual([[], before]);
  });

  test('is tested when it is asked otherwise or for more, not when its order, name or prices change', async () => {
    let isDown = false;
    const { asked } = stubVendors(() => (isDown ? new Response('', { status: 503 }) : undefined));
    const { client } = await newOrganization();
    const before = await createModel(client, gpt({ purposes: { talk: 1, extraction: 1 } }));
    isDown = true;
    asked.length = 0;
    const demoted = { ...before, name: 'Backup', purposes: { talk: 9 }, completion_usd_per_million: 2 };
    expect(await client.put(`${path}/${before.id}`, demoted)).toMatchObject({
      status: 200,
      body: { purposes: { talk: 9, extraction: null } },
    });
    expect(asked).toEqual([]);
    for (const change of [{ model: 'gpt-6-sol' }, { api_key: 'sk-another-key' }, { purposes: { talk: 9, judge: 1 } }])
      expect(await client.put(`${path}/${before.id}`, { ...demoted, ...change })).toMatchObject({ status: 422 });
    expect(asked.length).toBeGreaterThan(2);
    expect((await client.get(`${path}/${before.id}`)).body).toMatchObject({ model: 'gpt-6-luna', name: 'Backup' });
  });
});

describe('the language models of an organization', () => {
  test('are nothing to another one', async () => {
    const { asked } = stubVendors();
    const { client } = await newOrganization();
    const { client: other } = await newOrganization();
    const model = await createModel(client, gpt());
    asked.length = 0;
    expect((await other.get(path)).body).toMatchObject({ language_models: [], total: 0 });
    for (const id of [model.id, 999_999_999])
      for (const answer of [
        await other.get(`${path}/${id}`),
        await other.put(`${path}/${id}`, gpt()),
        await other.delete(`${path}/${id}`),
        await other.post(`${path}/${id}/test`),
      ])
        expect(answer).toMatchObject({ status: 404, body: { detail: 'Language model not found' } });
    expect((await client.get(`${path}/${model.id}`)).body).toEqual(model);
    expect(asked).toEqual([]);
  });

  test('are read with the scope read, and changed and tested with write', async () => {
    stubVendors();
    const { client } = await newOrganization({ scopes: ['write'] });
    const { id } = await createModel(client, gpt());
    expect((await client.post(`${path}/${id}/test`)).status).toBe(200);
    const { client: reader } = await newOrganization({ scopes: ['read'] });
    expect((await reader.get(path)).status).toBe(200);
    for (const answer of [
      await reader.post(path, gpt()),
      await reader.put(`${path}/1`, gpt()),
      await reader.delete(`${path}/1`),
      await reader.post(`${path}/1/test`),
    ])
      expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('insufficient_scope') } });
    expect((await new Client(undefined).get(path)).status).toBe(401);
  });

  test('show their keys in no answer and no log, whatever fails', async () => {
    let isFailing = false;
    stubVendors(({ vendor }) =>
      isFailing && vendor === 'claude' ? anthropicError(400, 'invalid_request_error', 'bad schema of') : undefined,
    );
    const { key } = await newOrganization();
    const client = new Client(key, serviceWith({ LOG_LEVEL: 'debug' }));
    const answers: unknown[] = [];
    const lines = await linesLoggedBy(async () => {
      const made = await client.post(path, claude(), { 'Idempotency-Key': 'once' });
      answers.push(made, await client.post(path, gpt()), await client.get(path));
      isFailing = true;
      answers.push(await client.post(`${path}/${made.body.id}/test`), await client.post(path, claude({ name: 'Again' })));
      answers.push(await client.put(`${path}/${made.body.id}`, claude({ model: 'claude-sonnet-5' })));
    });
    expectNoSecret(answers);
    expectNoSecret(lines);
    const { results } = await env.DB.prepare('SELECT * FROM idempotency_key').all();
    for (const secret of [claudeKey, gptKey]) expect(JSON.stringify(results)).not.toContain(secret);
  });

  test('cost the same to read and write however many other organizations have', async () => {
    stubVendors();
    const { key } = await newOrganization();
    const cost = async () => {
      const { client, recording } = recordedClient(key);
      const { body } = await client.post(path, gpt());
      await client.get(path);
      await client.put(`${path}/${body.id}`, gpt({ name: 'Other' }));
      await client.delete(`${path}/${body.id}`);
      return rowsRead(recording);
    };
    const { client: other, id } = await newOrganization();
    await createModel(other, gpt());
    await cost();
    const before = await cost();
    await env.DB.prepare(
      `INSERT INTO language_model (organization_id, name, provider, model, api_key, purposes, first_token_seconds, created_at, updated_at)
       SELECT organization_id, name, provider, model, api_key, purposes, 4, 0, 0 FROM language_model, json_each(?) WHERE organization_id = ?`,
    )
      .bind(JSON.stringify(Array.from({ length: 300 })), id)
      .run();
    expect(await cost()).toBe(before);
  });
});
