import { exports } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { parseJson } from '../../src/library/json/json.ts';
import { percentEncoded } from '../../src/library/text/clean-text.ts';
import { render } from '../../src/expressions/templates/render.ts';
import { parseBody } from '../../src/automation-workflows/triggers/webhooks/parse-body.ts';
import { parseRelayFrame } from '../../durable-objects/call/relay-frames.ts';
import { newOrganization } from '../support/organization.ts';
import { origin } from './service.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('JSON comes in with halves of pairs replaced and without NUL, in values and names, beside long integers, too', () => {
  expect(parseJson('{"a\\u0000b":["\\ud800x","\\udc00\\ud800","\\u0000"],"whole":"\\ud83d\\ude00"}')).toEqual({
    ab: ['\ufffdx', '\ufffd\ufffd', ''],
    whole: '😀',
  });
  expect(parseJson('{"n":12345678901234567890,"t":"\\uD800"}')).toEqual({ n: '12345678901234567890', t: '\ufffd' });
  expect(parseJson('{"__proto__":"\\ud800"}')).toEqual(JSON.parse('{"__proto__":"\ufffd"}'));
  expect(parseJson('"\\\\u0000 stays as it is written"')).toBe('\\u0000 stays as it is written');
});

test('every field of a contact and an event is stored well-formed', async () => {
  const { client } = await newOrganization();
  const odd = '{"email":"x@example.com","custom_fields":{"na\\u0000me":"\\ud83d","list":["\\udfff"]},"tags":["a\\u0000"]}';
  const contact = (await client.post('/contacts', odd)).body;
  expect((await client.get(`/contacts/${contact.id}`)).body).toMatchObject({
    custom_fields: { name: '\ufffd', list: ['\ufffd'] },
    tags: ['a'],
  });
  await client.post('/events', '{"event_type":"odd","data":{"t":"\\ud800\\u0000"}}');
  expect((await client.get('/events')).body.events[0].event_data).toEqual({ t: '\ufffd' });
});

test('forms, texts and parts of webhooks are cleaned; what is kept as bytes is not touched', async () => {
  expect(await parseBody('application/x-www-form-urlencoded', bytes('a%00=%00x&b=%ED%A0%80'))).toEqual({
    body: { a: 'x', b: '\ufffd\ufffd\ufffd' },
  });
  expect(await parseBody('text/plain', bytes('a\0b'))).toEqual({ body: 'ab' });
  expect(await parseBody('application/json', bytes('{"a":"\\ud800","b":"\\u0000"}'))).toEqual({ body: { a: '\ufffd', b: '' } });
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\0y\r\n--b--\r\n';
  expect(await parseBody('multipart/form-data; boundary=b', bytes(part))).toEqual({ body: { a: 'xy' } });
  expect(await parseBody('application/octet-stream', new Uint8Array([0, 1]))).toEqual({ body: null, raw: 'AAE=' });
});

test('NUL in a query is left out, in a path it is a 422 that names the path', async () => {
  const { client, key } = await newOrganization();
  await client.post('/contacts', { email: 'x@example.com', company: 'Acme' });
  expect((await client.get('/contacts?search=Ac%00me')).body.total).toBe(1);
  for (const path of ['/contacts/%00', '/knowledge-base/documents/a%00b', '/integration/chat%00app/status']) {
    const answer = await exports.default.fetch(new Request(`${origin}/api/v1${path}`, { headers: { 'X-API-Key': key } }));
    expect([answer.status, await answer.json()]).toEqual([
      422,
      { detail: [{ loc: ['path'], msg: expect.stringContaining('NUL'), type: 'nul' }] },
    ]);
  }
});

test('what a call hears is clean', () => {
  expect(parseRelayFrame('{"type":"prompt","voicePrompt":"\\ud800\\u0000yes","lang":"en-US","last":true}')).toMatchObject({
    voicePrompt: '\ufffdyes',
  });
});

test('templates that cut between the halves of a pair make clean text, in addresses, too', () => {
  const scope = { smile: '😀' };
  expect(render('{{ smile | split: "" | first }}', scope)).toBe('\ufffd');
  expect(render('x{{ smile | split: "" | first }}', scope)).toBe('x\ufffd');
  for (const filter of ['url_encode', 'cgi_escape', 'uri_escape'])
    expect(render(`{{ smile | split: "" | first | ${filter} }}`, scope)).toBe('%EF%BF%BD');
  expect(percentEncoded('a/\ud800\0')).toBe('a%2F%EF%BF%BD');
});

test('a page of /docs that is not there is a 404 in JSON', async () => {
  const answer = await exports.default.fetch(new Request(`${origin}/docs/no-such-page`));
  expect([answer.status, await answer.json()]).toEqual([404, { detail: 'Page not found' }]);
});
