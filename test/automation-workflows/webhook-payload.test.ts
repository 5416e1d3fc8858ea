import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyMapping, extractDeliveryId } from '../../src/automation-workflows/triggers/webhooks/mapping.ts';
import { parseBody } from '../../src/automation-workflows/triggers/webhooks/parse-body.ts';
import { WebhookConfig } from '../../src/automation-workflows/triggers/webhooks/config.ts';
import { webhookBodies } from '../fixtures/webhooks.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const read = (type: string | null, text: string) => parseBody(type, bytes(text));
const sample = async (name: keyof typeof webhookBodies) => (await read('application/json', webhookBodies[name])).body;

test('JSON is read with every digit of long ids, under each of its types', async () => {
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.api+json',
    'text/plain',
    'application/x-www-form-urlencoded',
    null,
  ])
    expect(await read(type, '{"id":6012345678901234567,"n":1}'), String(type)).toEqual({ body: { id: '6012345678901234567', n: 1 } });
  expect(await read('application/json', '"word"')).toEqual({ body: 'word' });
  expect(await read('text/plain', '"word"')).toEqual({ body: '"word"' });
});

test('malformed or absurdly nested JSON is kept as text', async () => {
  const unread = expect.stringContaining('declared as JSON');
  expect(await read('application/json', '{"a":')).toEqual({ body: '{"a":', unread });
  const deep = '['.repeat(100) + ']'.repeat(100);
  expect(await read('application/json', deep)).toEqual({ body: deep, unread });
});

test('forms become fields, a repeated one a list', async () => {
  expect(await read('application/x-www-form-urlencoded', 'phone=%2B49+30&tag=a&tag=b&empty=')).toEqual({
    body: { phone: '+49 30', tag: ['a', 'b'], empty: '' },
  });
  const form = new FormData();
  form.append('phone', '+4930');
  form.append('cv', new File(['12345'], 'cv.txt', { type: 'text/plain' }));
  const request = new Response(form);
  const payload = await parseBody(request.headers.get('content-type'), new Uint8Array(await request.arrayBuffer()));
  expect(payload).toEqual({ body: { phone: '+4930', cv: { name: 'cv.txt', type: 'text/plain', size: 5 } } });
  expect(await read('multipart/form-data', 'no boundary')).toEqual({
    body: null,
    raw: btoa('no boundary'),
    unread: expect.stringContaining('multipart'),
  });
});

test.each([
  ['iso-8859-1', 'name=J%FCrgen+M%fcller&stra%DFe=K%F6ln&empty=&flag', { name: 'Jürgen Müller', straße: 'Köln', empty: '', flag: '' }],
  ['ISO-8859-15', 'price=5+%A4&price=7+%A4', { price: ['5 €', '7 €'] }],
  ['windows-1251', 'name=%CF%B8%F2%F0&phone=%2B49+30', { name: 'Пётр', phone: '+49 30' }],
  ['"windows-1252"', 'note=50%25+%80&odd=100%&q=a%3Db', { note: '50% €', odd: '100%', q: 'a=b' }],
  // The second byte of ソ and of 表 is a backslash, which is not escaped; that of ア a letter.
  ['shift_jis', 'name=%83\\%95\\&other=%83A%83%43', { name: 'ソ表', other: 'アイ' }],
  ['utf-8', 'name=J%C3%BCrgen', { name: 'Jürgen' }],
])('a form is read in its declared character set: %s', async (charset, text, body) => {
  expect(await read(`application/x-www-form-urlencoded; charset=${charset}`, text)).toEqual({ body });
});

test('a form that escapes in UTF-8 though it declares another character set is read in UTF-8 where the other has no such signs', async () => {
  expect(await read('application/x-www-form-urlencoded; charset=us-ascii', 'name=Ann')).toEqual({ body: { name: 'Ann' } });
  expect(await read('application/x-www-form-urlencoded; charset=iso-8859-6', 'name=%C3%BC')).toEqual({ body: { name: 'ü' } });
});

test('text is text in its declared character set', async () => {
  expect(await read('text/plain', 'hello')).toEqual({ body: 'hello' });
  expect(await read('application/xml', '<a/>')).toEqual({ body: '<a/>' });
  expect(await parseBody('text/plain; charset=iso-8859-1', new Uint8Array([0xfc]))).toEqual({ body: 'ü' });
});

test('an empty body is null, whatever its type', async () => {
  for (const type of [null, 'application/json', 'application/octet-stream', 'multipart/form-data'])
    expect(await read(type, '')).toEqual({ body: null });
});

test('any other bytes come back whole from base64, also those that only claim to be text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 20_000 }), async (content) => {
      const payload = await parseBody('application/octet-stream', content);
      expect(payload.body).toBeNull();
      expect(new Uint8Array(Buffer.from(payload.raw!, 'base64'))).toEqual(content);
    }),
    { numRuns: 20 },
  );
  expect(await parseBody('text/plain', new Uint8Array([0xff, 0xfe, 0xfd]))).toMatchObject({
    body: null,
    raw: '//79',
    unread: expect.stringContaining('not in utf-8'),
  });
  expect(await parseBody('text/plain; charset=nonsense', bytes('a'))).toMatchObject({ body: null, raw: 'YQ==' });
});

test('a shop order without phone at the top finds it at the customer, and its long id as a variable', async () => {
  const mapping = {
    phone: ['phone', 'customer.phone', '$.customer.default_address.phone'],
    email: '$.email',
    first_name: 'customer.first_name',
    last_name: 'customer.last_name',
    external_id: 'customer.id',
    order_id: 'id',
    sku: 'line_items[0].sku',
    missing: 'no.such.path',
  };
  expect(applyMapping(mapping, await sample('shopify'))).toEqual({
    contact: {
      phone: '+12123456010',
      email: 'nina@example.org',
      first_name: 'Nina',
      last_name: 'Okafor',
      external_id: '7012345678901234567',
    },
    variables: { order_id: '6012345678901234567', sku: 'K-200' },
  });
});

test('the other samples map to their contacts', async () => {
  const session = {
    phone: 'data.object.customer_details.phone',
    email: 'data.object.customer_details.email',
    order: 'data.object.metadata.order',
  };
  expect(applyMapping(session, await sample('stripe'))).toEqual({
    contact: { phone: '+12123456011', email: 'omar@example.org' },
    variables: { order: 'A-17' },
  });
  const invitee = {
    phone: 'payload.text_reminder_number',
    email: 'payload.email',
    company: 'payload.questions_and_answers[question=Company].answer',
  };
  expect(applyMapping(invitee, await sample('calendly'))).toEqual({
    contact: { phone: '+86 138 0013 8000', email: 'mei@example.org' },
    variables: { company: 'Globex' },
  });
});

test('contact fields are text: numbers become it, the first of a list counts, objects and blanks do not', () => {
  const body = { phone: 14155550100, names: ['Ada', 'B'], blank: '  ', object: { a: 1 }, no: false };
  expect(
    applyMapping(
      { phone: 'phone', first_name: 'names', last_name: ['blank', 'object'], external_id: 'nope', no: 'no', object: 'object' },
      body,
    ),
  ).toEqual({
    contact: { phone: '14155550100', first_name: 'Ada' },
    variables: { no: false, object: { a: 1 } },
  });
  expect(applyMapping({ phone: 'phone' }, null)).toEqual({ contact: {}, variables: {} });
});

const config = (more: object): WebhookConfig => WebhookConfig.parse(more);
const idOf = (more: object, headers: Record<string, string>, body: unknown = null) =>
  extractDeliveryId(config(more), new Headers(headers), body);

test('each scheme knows where its delivery id is', () => {
  const shopify = { auth: { type: 'shopify', secret: 's' } };
  expect(idOf(shopify, { 'X-Shopify-Webhook-Id': 'w1', 'X-Shopify-Event-Id': 'e1' })).toBe('w1');
  expect(idOf(shopify, { 'X-Shopify-Event-Id': 'e1', 'X-Shopify-Topic': 'orders/create' })).toBe('orders/create:e1');
  expect(idOf(shopify, {})).toBeNull();
  expect(idOf({ auth: { type: 'stripe', secret: 's' } }, {}, { id: 'evt_1' })).toBe('evt_1');
  expect(idOf({ auth: { type: 'standard_webhooks', secret: 'a2V5' } }, { 'webhook-id': 'm1' })).toBe('m1');
  expect(idOf({}, { 'X-Delivery': 'd' }, { id: 1 })).toBeNull();
});

test('a configured delivery id wins, from a header or from the body', () => {
  expect(idOf({ delivery_id: 'X-Delivery' }, { 'x-delivery': ' d1 ' })).toBe('d1');
  expect(idOf({ delivery_id: '$.meta.id' }, {}, { meta: { id: 7 } })).toBe('7');
  expect(idOf({ auth: { type: 'stripe', secret: 's' }, delivery_id: 'X-Delivery' }, {}, { id: 'evt_1' })).toBeNull();
  expect(idOf({ delivery_id: '$.id' }, {}, { id: { a: 1 } })).toBeNull();
  expect(idOf({ delivery_id: 'X-D' }, { 'x-d': 'x'.repeat(256) })).toBeNull();
});
