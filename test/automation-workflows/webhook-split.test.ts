import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { WebhookConfig } from '../../src/automation-workflows/triggers/webhooks/config.ts';
import { mappingPathProblem, splitPathProblem } from '../../src/automation-workflows/triggers/webhooks/mapping-path.ts';
import { readDeliveries } from '../../src/automation-workflows/triggers/webhooks/read-delivery.ts';
import { listElements, maxElements } from '../../src/automation-workflows/triggers/webhooks/split.ts';
import { pathProblem } from '../../src/library/json/paths.ts';

const whatsApp = {
  object: 'whatsapp_business_account',
  entry: [
    {
      id: '1',
      changes: [
        {
          value: {
            messages: [
              { id: 'wamid.A', from: '491511' },
              { id: 'wamid.B', from: '491512' },
            ],
          },
        },
        { value: { statuses: [] } },
      ],
    },
    { id: '2', changes: [{ value: { messages: [{ id: 'wamid.C', from: '491513' }] } }] },
  ],
};

test('the elements of a list are found, through all lists on the way', () => {
  expect(listElements([{ id: 1 }, { id: 2 }], '$')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(listElements({ events: [1, 2] }, 'events')).toEqual([1, 2]);
  expect(listElements(whatsApp, '$.entry.changes.value.messages')).toMatchObject([{ id: 'wamid.A' }, { id: 'wamid.B' }, { id: 'wamid.C' }]);
  expect(listElements(whatsApp, 'entry[1].changes.value.messages')).toMatchObject([{ id: 'wamid.C' }]);
});

test('what is no list is one element; nothing is none', () => {
  expect(listElements({ id: 1 }, '$')).toEqual([{ id: 1 }]);
  for (const [body, path] of [
    [{}, 'events'],
    [null, '$'],
    [{ events: null }, 'events'],
    [{ events: [] }, 'events'],
    ['text', 'events'],
  ] as const)
    expect(listElements(body, path)).toEqual([]);
});

test('more elements than one request may have are refused with their number', () => {
  expect(
    listElements(
      Array.from({ length: maxElements }, () => 1),
      '$',
    ),
  ).toHaveLength(maxElements);
  expect(() =>
    listElements(
      Array.from({ length: maxElements + 1 }, () => 1),
      '$',
    ),
  ).toThrow(`${maxElements + 1} elements`);
});

const send = (config: unknown, body: unknown, headers: Record<string, string> = {}) =>
  readDeliveries(
    WebhookConfig.parse(config),
    {
      headers: new Headers({ 'content-type': 'application/json', ...headers }),
      query: {},
      body: new TextEncoder().encode(JSON.stringify(body)),
    },
    'US',
  );

test('each element is mapped by itself, then by what stands around it', async () => {
  const config = {
    split: '$.entry.changes.value.messages',
    mapping: { phone: 'from', account: 'object', first: 'entry.0.id' },
    delivery_id: '$.id',
  };
  expect(await send(config, whatsApp)).toMatchObject(
    ['A', 'B', 'C'].map((letter, index) => ({
      deliveryId: `wamid.${letter}`,
      contact: { phone: `49151${index + 1}` },
      payload: {
        body: { id: `wamid.${letter}` },
        element: { number: index + 1, of: 3 },
        variables: { account: 'whatsapp_business_account', first: '1' },
      },
    })),
  );
});

test('elements without ids of their own have the id of the request and their number; without any, none', async () => {
  const ids = async (config: object, headers?: Record<string, string>) =>
    (await send({ split: '$', ...config }, [{ id: 'a' }, {}], headers)).map(({ deliveryId }) => deliveryId);
  expect(await ids({ delivery_id: 'X-Request' }, { 'X-Request': 'r-1' })).toEqual(['r-1#1', 'r-1#2']);
  expect(await ids({ delivery_id: '$.id' })).toEqual(['a', null]);
  expect(await ids({})).toEqual([null, null]);
  const long = await ids({ delivery_id: 'X-Request' }, { 'X-Request': 'r'.repeat(255) });
  expect(new Set(long).size).toBe(2);
  expect(Math.max(...long.map((id) => id!.length))).toBeLessThanOrEqual(255);
});

test('a request without elements is one delivery that says so', async () => {
  expect(await send({ split: 'events' }, { statuses: [] })).toMatchObject([
    { payload: { body: { statuses: [] }, element: { number: 0, of: 0 } } },
  ]);
});

test.each([
  ['{{ customer.phone }}', 'customer.phone'],
  ['{{ webhook.body.customer.phone }}', 'customer.phone'],
  ["{{ customer.phone | default: '' }}", 'customer.phone'],
  ['{{ body.customer.phone }}', 'customer.phone'],
  ['${body.phone}', 'phone'],
  ['{{ $json.body.customer.phone }}', 'customer.phone'],
  ['{{ $json.phone }}', 'phone'],
  ['$json.body.phone', 'phone'],
  ['$json.bodyweight', 'bodyweight'],
  ['{{ $json.body }}', '$'],
  ['{{ body }}', 'body'],
  ['webhook.body.customer.phone', 'customer.phone'],
  ['$.webhook.body.customer.phone', 'customer.phone'],
  ['webhook.body[0].phone', '[0].phone'],
  ['webhook.body', '$'],
  ['$phone', 'phone'],
  ['/customer/phone', 'customer.phone'],
  ['/items/0/sku', 'items.0.sku'],
  ['$.items[*].sku', '$.items.0.sku'],
  ['items.*.sku', 'items.0.sku'],
  ['items[].sku', 'items.0.sku'],
  ['items.#.sku', 'items.0.sku'],
  ['$..phone', '$.phone'],
  [' customer.phone ', 'customer.phone'],
  [' a . b ', 'a.b'],
  ['a . b', 'a.b'],
  ['${phone}', 'phone'],
  ['${ customer.phone }', 'customer.phone'],
  ['$.a[?(@.x==1)].phone', '$.a[x=1].phone'],
  ["answers[?(@.field.ref == 'phone')].text", 'answers[field.ref=phone].text'],
  ['a[?@.x=="y z"].b', 'a[x=y z].b'],
  ['a[?(@.price > 10)].b', 'a[0].b'],
  ['a.-1.b', 'a.0.b'],
  ['a[-1].b', 'a[0].b'],
  ['items.-2', 'items.0'],
])('%j can never match, and %j is named', (path, right) => {
  expect(mappingPathProblem(path)).toMatch(/can never match/);
  expect(mappingPathProblem(path)).toMatch(new RegExp(`write ${right.replaceAll(/[.$[\]]/g, '\\$&')}$`));
  expect(WebhookConfig.safeParse({ mapping: { phone: path } }).success).toBe(false);
  expect(WebhookConfig.safeParse({ mapping: { phone: right }, split: right }).success).toBe(true);
});

test.each([
  ['$.events[*]', '$.events'],
  ['entry[].changes.*.messages', 'entry.changes.messages'],
  ['{{ webhook.body }}', '$'],
])('to split by %j, write %j', (path, right) => {
  expect(splitPathProblem(path)?.endsWith(`write ${right}`)).toBe(true);
  expect(WebhookConfig.safeParse({ split: path }).success).toBe(false);
  expect(WebhookConfig.safeParse({ split: right }).success).toBe(true);
});

test('a path that may match is taken as it is', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-zA-Z0-9_-]{1,8}$/), { minLength: 1, maxLength: 5 }), (names) => {
      if (names[0] === 'webhook' || names.some((name) => /^-\d+$/.test(name))) return;
      expect(mappingPathProblem(names.join('.'))).toBeNull();
      expect(mappingPathProblem(`$.${names.join('.')}`)).toBeNull();
    }),
  );
  for (const path of [
    '$',
    'body.phone',
    'data.object.id',
    "fields['a.b']",
    'answers[field.ref=phone].phone_number',
    'webhook.id',
    'a/b',
    'price$',
    'a*b',
    'a-1.b-2',
    "a[' . ']",
    'a[x=y . z].b',
  ])
    expect([mappingPathProblem(path), pathProblem(path)]).toEqual([null, null]);
});
