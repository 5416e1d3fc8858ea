import { exports } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { newOrganization, newPhone } from '../support/organization.ts';
import { origin, serviceWith } from './service.ts';

const MiB = 1024 * 1024;

/** Sends a body that is no string, or none that `fetch` would describe by itself. */
async function send(key: string, path: string, body: BodyInit, headers: Record<string, string> = { 'Content-Type': 'application/json' }) {
  const request = new Request(`${origin}/api/v1${path}`, { method: 'POST', headers: { 'X-API-Key': key, ...headers }, body });
  const response = await exports.default.fetch(request);
  return { status: response.status, body: (await response.json()) as any, headers: response.headers };
}

function streamOf(parts: Uint8Array[], end: (controller: ReadableStreamDefaultController<Uint8Array>) => void) {
  const left = [...parts];
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = left.shift();
      if (part) controller.enqueue(part);
      else end(controller);
    },
  });
}

const padded = (length: number) => JSON.stringify({ list_name: 'x', contacts: [{ email: 'x@example.com' }], unknown: 'x'.repeat(length) });
const bytes = (text: string) => new TextEncoder().encode(text);
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('a JSON body', () => {
  test.each([
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['application/json;charset="UTF-8"'],
    ['application/json ; charset=utf-8'],
    ['application/json;'],
    ['Application/JSON'],
    ['application/vnd.shop.v2+json'],
  ])('is read as %s', async (type) => {
    const { client } = await newOrganization();
    const phone = newPhone();
    expect(await client.post('/contacts', { phone }, { 'Content-Type': type })).toMatchObject({ status: 201, body: { phone } });
  });

  test.each([
    ['text/plain'],
    ['text/json'],
    ['application/json-seq'],
    ['application/jsonp'],
    ['application/xml'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=application/json'],
    ['json'],
  ])('is not read as %s: 415 that says what to send', async (type) => {
    const { client } = await newOrganization();
    const answer = await client.post('/contacts', { phone: newPhone() }, { 'Content-Type': type });
    expect(answer).toMatchObject({ status: 415, body: { detail: `Content-Type "${type}" cannot be read; send application/json` } });
  });

  test('without a content type is 415', async () => {
    const { key } = await newOrganization();
    const answer = await send(key, '/contacts', bytes('{}'), {});
    expect(answer).toMatchObject({ status: 415, body: { detail: expect.stringContaining('is missing') } });
  });

  test.each([['{"phone": '], ['{phone: 1}'], ["{'phone': 1}"], ['nope'], ['{"a":1}{"b":2}'], ['[1,]'], ['{"id": 12345678901234567890, }']])(
    '%s is malformed: 422 json_invalid',
    async (text) => {
      const { client } = await newOrganization();
      const answer = await client.post('/contacts', text);
      const issue = { loc: ['body'], msg: expect.stringMatching(/^Malformed JSON body: /), type: 'json_invalid' };
      expect(answer).toMatchObject({ status: 422, body: { detail: [issue] } });
    },
  );

  test('that is not UTF-8 is 422 json_invalid', async () => {
    const { key } = await newOrganization();
    const latin1 = Uint8Array.from('{"email":"josé@example.com"}', (character) => character.charCodeAt(0));
    const issue = { loc: ['body'], msg: 'Malformed JSON body: it is not UTF-8', type: 'json_invalid' };
    expect(await send(key, '/contacts', latin1)).toMatchObject({ status: 422, body: { detail: [issue] } });
  });

  test('may begin with a byte order mark', async () => {
    const { key } = await newOrganization();
    expect((await send(key, '/contacts', bytes('\uFEFF{"email":"x@example.com"}'))).status).toBe(201);
  });

  test.each([['null'], ['[]'], ['"text"'], ['5'], ['true']])('%s where an object belongs is a 422 of the body', async (text) => {
    const { client } = await newOrganization();
    const answer = await client.post('/events', text);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body'], msg: expect.any(String), type: 'invalid_type' }] } });
  });

  test('that is empty counts as one without fields', async () => {
    const { client, key } = await newOrganization();
    const missing = { status: 422, body: { detail: [{ loc: ['body', 'event_type'] }] } };
    expect(await client.post('/events')).toMatchObject(missing);
    expect(await client.post('/events', '')).toMatchObject(missing);
    expect(await client.post('/events', ' \n ')).toMatchObject(missing);
    expect(
      await send(
        key,
        '/events',
        streamOf([], (controller) => controller.close()),
        {},
      ),
    ).toMatchObject(missing);
  });

  test('names every wrong field, with indexes as text', async () => {
    const { client } = await newOrganization();
    const answer = await client.post('/events', { event_type: 5, phone: {}, data: 'x', occurred_at: 'yesterday' });
    expect(answer.status).toBe(422);
    expect(answer.body.detail.map((issue: { loc: string[] }) => issue.loc.join('.')).toSorted()).toEqual([
      'body.data',
      'body.event_type',
      'body.occurred_at',
      'body.phone',
    ]);
    const tags = await client.post('/contacts', { email: 'x@example.com', tags: ['a', 5] });
    expect(tags.body.detail[0].loc).toEqual(['body', 'tags', '1']);
  });

  test('brings integers beyond 2^53 through unharmed, as text', async () => {
    const { client } = await newOrganization();
    await client.post('/events', '{"event_type":"paid","data":{"order":12345678901234567890,"lines":[9007199254740993,7]}}');
    const { body } = await client.get('/events');
    expect(body.events[0].event_data).toEqual({ order: '12345678901234567890', lines: ['9007199254740993', 7] });
  });

  test('with control characters, lone surrogates or a key of the prototype breaks nothing', async () => {
    const { client } = await newOrganization();
    for (const text of [
      '{"event_type":"a\\u0000b","phone":"\\u0000"}',
      '{"event_type":"\\ud800","list_name":"\\udfff"}',
      '{"event_type":"x","data":{"__proto__":{"isAdmin":true},"constructor":{"prototype":1}}}',
      '{"event_type":"x","data":{"n":1e400}}',
    ])
      expect((await client.post('/events', text)).status).toBeLessThan(500);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    expect((await client.get('/events')).status).toBe(200);
  });
});

describe('nesting', () => {
  test('of 64 levels passes, of one more is 422', async () => {
    const { client } = await newOrganization();
    // The body and `data` are two levels themselves.
    expect((await client.post('/events', `{"event_type":"deep","data":{"a":${nested(62)}}}`)).status).toBe(201);
    const answer = await client.post('/events', `{"event_type":"deep","data":{"a":${nested(63)}}}`);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ msg: expect.stringContaining('64 levels'), type: 'json_invalid' }] } });
  });

  test.each([['['], ['{"a":'], ['[12345678901234567890,']])('of half a megabyte of %s is 422', async (opening) => {
    const { client } = await newOrganization();
    expect((await client.post('/events', opening.repeat(Math.floor((MiB * 0.5) / opening.length)))).status).toBe(422);
  });
});

describe('the size of a body', () => {
  test('over 1 MiB is 413 that names the limit', async () => {
    const { client } = await newOrganization();
    const answer = await client.post('/contacts', { email: 'x@example.com', custom_fields: { text: 'x'.repeat(2 * MiB) } });
    expect(answer).toMatchObject({ status: 413, body: { detail: expect.stringContaining('1 MiB') } });
    expect((await client.get('/contacts')).body.total).toBe(0);
  });

  test('is counted in bytes, to the byte', async () => {
    const { client } = await newOrganization();
    const around = '{"event_type":"x","phone":"","unknown":""}'.length;
    const body = (length: number) => `{"event_type":"x","phone":"","unknown":"${'x'.repeat(length - around)}"}`;
    expect((await client.post('/events', body(MiB))).status).toBe(201);
    expect((await client.post('/events', body(MiB + 1))).status).toBe(413);
    expect((await client.post('/events', `{"event_type":"x","unknown":"${'é'.repeat(MiB / 2)}"}`)).status).toBe(413);
  });

  test('of a bulk upsert may be 16 MiB, with and without a slash, and no path beside it', async () => {
    const { client } = await newOrganization();
    expect((await client.post('/contacts/bulk-upsert', padded(2 * MiB))).status).toBe(200);
    expect((await client.post('/contacts/bulk-upsert/', padded(2 * MiB))).status).toBe(200);
    const answer = await client.post('/contacts/bulk-upsert', padded(16 * MiB));
    expect(answer).toMatchObject({ status: 413, body: { detail: expect.stringContaining('16 MiB') } });
    expect((await client.post('/contacts/lists/bulk-upsert', padded(2 * MiB))).status).toBe(413);
  });

  test('is refused as soon as it is announced, or as soon as it is over the limit', async () => {
    const { key } = await newOrganization();
    let sent = 0;
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          sent += 64 * 1024;
          controller.enqueue(new Uint8Array(64 * 1024).fill(32));
        },
      });
    expect((await send(key, '/contacts', endless())).status).toBe(413);
    expect(sent).toBeLessThan(2 * MiB);
    sent = 0;
    const announced = { 'Content-Type': 'application/json', 'Content-Length': String(2 * MiB) };
    expect((await send(key, '/contacts', endless(), announced)).status).toBe(413);
    expect(sent).toBeLessThan(MiB);
  });

  test('of sign-in is bounded too', async () => {
    const { key } = await newOrganization();
    expect((await send(key, '/auth/login', bytes(`{"email":"${'x'.repeat(MiB)}"}`))).status).toBe(413);
  });
});

test('a body that stops half way is 400, and nothing is done', async () => {
  const { client, key } = await newOrganization();
  const service = serviceWith({});
  const sent = async (headers: Record<string, string>) => {
    const body = streamOf([bytes('{"email":"half@example.com"}')], (controller) => controller.error(new Error('connection reset')));
    const answer = await service(
      new Request(`${origin}/api/v1/contacts`, { method: 'POST', headers: { 'X-API-Key': key, ...headers }, body }),
    );
    return { status: answer.status, body: await answer.json() };
  };
  const cut = { status: 400, body: { detail: 'The body stopped before its end; send the request again' } };
  expect(await sent({ 'Content-Type': 'application/json' })).toEqual(cut);
  expect(await sent({ 'Content-Type': 'application/json', 'Content-Length': '100' })).toEqual(cut);
  expect((await client.get('/contacts')).body.total).toBe(0);
});

test('a body that comes in parts is read whole', async () => {
  const { key } = await newOrganization();
  const parts = streamOf([bytes('{"email":'), bytes('"whole@example.com"}')], (controller) => controller.close());
  expect(await send(key, '/contacts', parts)).toMatchObject({ status: 201, body: { email: 'whole@example.com' } });
});
