import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { validateGraph } from '../../src/automation-workflows/definitions/definition.ts';
import type { Effects, StepResult } from '../../src/automation-workflows/nodes/contract.ts';
import type { OutboundRequest, OutboundResponse } from '../../src/expressions/http-request/request.ts';
import { findNodeType, nodeTypes } from '../../src/automation-workflows/nodes/registry.ts';
import { chooseVariant } from '../../src/automation-workflows/nodes/types/split.ts';
import { buildScope } from '../../src/expressions/templates/scope.ts';
import { verifySignature } from '../../src/automation-workflows/triggers/webhooks/signatures.ts';
import { notFound, rateLimited } from '../../src/library/errors.ts';

const now = Date.UTC(2026, 10, 20, 15, 15, 30);
const organization = { default_country: 'US', timezone: 'America/New_York' };
const contact = { id: 42, first_name: 'Ada', phone: '+14155550100', tags: ['new'], custom_fields: { tier: 'gold' } };

interface Call {
  name: string;
  key: string;
  argument: unknown;
}

/** Effects that record their requests, and answer with `answer`. */
function recording(answer: unknown = { ok: true }): { calls: Call[]; effects: Effects } {
  const calls: Call[] = [];
  const effect = (name: string) => async (key: string, argument: unknown) => {
    calls.push({ name, key, argument });
    if (answer instanceof Error) throw answer;
    return answer as never;
  };
  const effects = {
    updateContact: effect('updateContact'),
    changeLists: effect('changeLists'),
    emitEvent: effect('emitEvent'),
    httpRequest: effect('httpRequest'),
    completeText: effect('completeText'),
    searchKnowledge: async (search: unknown) => effect('searchKnowledge')('', search),
    startRun: effect('startRun'),
    startCall: effect('startCall'),
    sendMessage: effect('sendMessage'),
    postToChannel: effect('postToChannel'),
    createIssue: effect('createIssue'),
    createEvent: effect('createEvent'),
    appendRow: effect('appendRow'),
  };
  return { calls, effects };
}

async function run(
  type: string,
  data: unknown,
  more: {
    scope?: Record<string, unknown>;
    roots?: object;
    dryRun?: boolean;
    effects?: Effects;
    key?: string;
    now?: number;
    nodeId?: string;
    mayHaveHappened?: boolean;
  } = {},
): Promise<StepResult> {
  const nodeType = findNodeType(type)!;
  return nodeType.run({
    node: { id: more.nodeId ?? 'n1', type, data: data as Record<string, unknown> },
    data: nodeType.dataSchema.parse(data),
    scope: buildScope({ contact, organization, now: new Date(now).toISOString(), ...more.roots }, more.scope),
    now: more.now ?? now,
    enteredAt: more.now ?? now,
    key: more.key ?? '7:n1:1:1',
    unaskedTries: 0,
    mayHaveHappened: more.mayHaveHappened ?? false,
    quietHoursStart: null,
    call: { item: 'n1:1:1', until: null },
    dryRun: more.dryRun ?? false,
    effects: more.effects ?? recording().effects,
    organization,
  });
}

const problems = (type: string, data: unknown) =>
  (findNodeType(type)!.dataSchema.safeParse(data).error?.issues ?? [])
    .map(({ path, message }) => `${path.join('.')}: ${message}`)
    .join('\n');

test('every node type has an example that fits, handles, and a JSON Schema of its data', () => {
  expect([...nodeTypes.keys()]).toEqual([
    'trigger',
    'condition',
    'switch',
    'split',
    'wait',
    'wait_for_event',
    'set_context',
    'update_contact',
    'list_membership',
    'emit_event',
    'http_request',
    'knowledge_search',
    'llm',
    'run_workflow',
    'voice_call',
    'send_message',
    'chatapp_message',
    'tracker_issue',
    'calendar_event',
    'sheet_row',
    'exit',
  ]);
  for (const [name, type] of nodeTypes) {
    expect(type.dataSchema.safeParse(type.example).error, name).toBeUndefined();
    const schema = z.toJSONSchema(type.dataSchema, { io: 'input' });
    expect(schema, name).toMatchObject({ type: 'object', additionalProperties: {} });
    expect(problems(name, { ...type.example, no_such_key: 1 }), name).toBe('');
    if (type.isSideEffect) expect(type.handles(type.example), name).toContain('error');
  }
});

test('condition goes on at true or false and shows the compared values', async () => {
  const data = { condition: { field: 'total', operator: 'gt', value: 100 } };
  expect(await run('condition', data, { scope: { total: '150' } })).toMatchObject({
    kind: 'next',
    handle: 'true',
    output: { result: true, comparisons: [{ actual: '150' }] },
  });
  expect(await run('condition', data, { scope: {} })).toMatchObject({ handle: 'false' });
});

test('switch compares as conditions do and falls to default', async () => {
  const data = {
    value: '{{ total }}',
    cases: [
      { key: 'many', equals: '42.50' },
      { key: 'same', equals: '{{ limit }}' },
    ],
  };
  expect(await run('switch', data, { scope: { total: 42.5 } })).toMatchObject({ handle: 'many', output: { value: 42.5, case: 'many' } });
  expect(await run('switch', data, { scope: { total: 7, limit: 7 } })).toMatchObject({ handle: 'same' });
  expect(await run('switch', data, { scope: { total: 8 } })).toMatchObject({ handle: 'default' });
  expect(await run('switch', data, { scope: {} })).toMatchObject({ handle: 'default' });
});

test('split gives one entry key the same variant in every run, visit and attempt, and another node its own choice', async () => {
  const data = {
    variants: [
      { key: 'a', weight: 1 },
      { key: 'b', weight: 1 },
    ],
  };
  const variantOf = async (entryKey: unknown, key: string, nodeId = 'n1') =>
    ((await run('split', data, { roots: { run: { entry_key: entryKey } }, key, nodeId })) as { handle: string }).handle;
  const byNode = new Set<string>();
  for (let contactId = 0; contactId < 20; contactId++) {
    const first = await variantOf(contactId, '1:n1:1:1');
    expect(await variantOf(String(contactId), '99:n1:3:2')).toBe(first);
    expect(await variantOf(null, `${contactId}:n1:1:1`)).toBe(await variantOf(null, `${contactId}:n1:2:3`));
    byNode.add(`${first} ${await variantOf(contactId, '1:n2:1:1', 'n2')}`);
  }
  expect(byNode.size).toBe(4);
});

test('split follows its weights', () => {
  const weights = fc.array(fc.double({ min: 0.5, max: 20, noNaN: true }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(weights, fc.string(), (list, salt) => {
      const variants = list.map((weight, index) => ({ key: String(index), weight }));
      const total = list.reduce((sum, weight) => sum + weight, 0);
      const counts = new Map<string, number>();
      const draws = 2000;
      for (let draw = 0; draw < draws; draw++) {
        const variant = chooseVariant(variants, `${salt}${draw}`);
        counts.set(variant, (counts.get(variant) ?? 0) + 1);
      }
      for (const { key, weight } of variants) {
        const expected = weight / total;
        const spread = Math.sqrt((expected * (1 - expected)) / draws);
        expect(Math.abs((counts.get(key) ?? 0) / draws - expected)).toBeLessThanOrEqual(6 * spread + 1e-9);
      }
    }),
    { numRuns: 30 },
  );
});

test('set_context assigns values with their types, seeing the context as it was before', async () => {
  const result = await run(
    'set_context',
    { assign: { total: '{{ total | times: 2 }}', copy: '{{ total }}', list: [1, '{{ total }}'] } },
    { scope: { total: 150 } },
  );
  expect(result).toEqual({
    kind: 'next',
    handle: 'default',
    output: { total: 300, copy: 150, list: [1, 150] },
    assign: { total: 300, copy: 150, list: [1, 150] },
  });
  expect(problems('set_context', { assign: { contact: 1, 'a b': 1, ok_1: 1 } })).toMatch(
    /assign\.contact: "contact" is a name of the run itself.*\nassign\.a b: "a b" is not a variable name/,
  );
});

test('exit ends with a rendered outcome or none', async () => {
  expect(await run('exit', { outcome: '{{ size }}' }, { scope: { size: 'big' } })).toEqual({ kind: 'exit', outcome: 'big' });
  expect(await run('exit', {})).toEqual({ kind: 'exit', outcome: null });
  expect(await run('exit', { outcome: '{{ missing }}' })).toEqual({ kind: 'exit', outcome: null });
});

// wait

const until = (result: StepResult) => (result.kind === 'wait' ? new Date(result.until).toISOString() : result);

test('wait: a duration is exact, calendar days keep the local time', async () => {
  const beforeChange = { now: Date.UTC(2026, 2, 7, 14) };
  expect(until(await run('wait', { duration: 'P1D' }, beforeChange))).toBe('2026-03-08T14:00:00.000Z');
  expect(until(await run('wait', { calendar_days: 1 }, beforeChange))).toBe('2026-03-08T13:00:00.000Z');
  expect(until(await run('wait', { duration: 'PT{{ minutes }}M' }, { scope: { minutes: 5 } }))).toBe('2026-11-20T15:20:30.000Z');
  expect(until(await run('wait', { duration: 'PT0S' }))).toBe('2026-11-20T15:15:30.000Z');
  expect(await run('wait', { duration: '{{ nope }}' })).toMatchObject({ kind: 'fail', type: 'invalid_wait', retryable: false });
});

const inZone = (timezone: unknown) => ({ roots: { contact: { ...contact, custom_fields: { timezone } } } });

test("wait: the contact's zone counts when it is one, else the organization's", async () => {
  const data = { time_of_day: '09:00', days: [0] };
  expect(until(await run('wait', data))).toBe('2026-11-23T14:00:00.000Z');
  expect(until(await run('wait', data, inZone('Asia/Kolkata')))).toBe('2026-11-23T03:30:00.000Z');
  expect(until(await run('wait', data, inZone('Mars/Base')))).toBe('2026-11-23T14:00:00.000Z');
  expect(until(await run('wait', data, { roots: { contact: null } }))).toBe('2026-11-23T14:00:00.000Z');
  expect(until(await run('wait', { ...data, timezone: 'organization' }, inZone('Asia/Kolkata')))).toBe('2026-11-23T14:00:00.000Z');
  expect(until(await run('wait', { ...data, timezone: 'Europe/Berlin' }))).toBe('2026-11-23T08:00:00.000Z');
});

const waitUntil = async (value: unknown, more = {}) => until(await run('wait', { until: '{{ at }}', ...more }, { scope: { at: value } }));

test('wait: until accepts the timestamps of payloads, and reads a time without offset in the zone', async () => {
  expect(await waitUntil('2026-11-25T09:00:00.000000Z')).toBe('2026-11-25T09:00:00.000Z');
  expect(await waitUntil('2026-11-25T09:00:00')).toBe('2026-11-25T14:00:00.000Z');
  expect(await waitUntil('2026-11-25', { timezone: 'UTC' })).toBe('2026-11-25T00:00:00.000Z');
  expect(await waitUntil(1_795_700_000)).toBe(new Date(1_795_700_000_000).toISOString());
  expect(await waitUntil('soon')).toMatchObject({
    kind: 'fail',
    type: 'invalid_wait',
    message: expect.stringContaining('"soon"') as string,
  });
});

const waitForPast = async (past_due?: string) => run('wait', { until: '2026-11-20T15:15:30Z', ...(past_due ? { past_due } : {}) });

test('wait: a moment that has passed continues, ends the run or fails it, by past_due', async () => {
  expect(await waitForPast()).toMatchObject({ kind: 'next', handle: 'default', output: { past_due: 'continue' } });
  expect(await waitForPast('skip')).toMatchObject({ kind: 'exit', outcome: 'skipped' });
  expect(await waitForPast('fail')).toMatchObject({ kind: 'fail', type: 'past_due', retryable: false });
});

test('wait: exactly one form, every value checked by name', () => {
  expect(problems('wait', {})).toContain('Give exactly one of duration, calendar_days, until, time_of_day; there is none');
  expect(problems('wait', { duration: 'PT1S', until: 'x' })).toContain('there are duration and until');
  expect(problems('wait', { duration: 'PT1S', days: [1] })).toContain('days: days belongs to time_of_day');
  expect(problems('wait', { duration: '5 minutes' })).toContain('duration: "5 minutes" is not an ISO 8601 duration');
  expect(problems('wait', { time_of_day: '25:00' })).toContain('time_of_day: Must be HH:MM');
  expect(problems('wait', { time_of_day: '09:00', days: [7] })).toContain('days.0');
  expect(problems('wait', { time_of_day: '09:00', timezone: 'Mars/Base' })).toContain('timezone: Unknown time zone "Mars/Base"');
  expect(problems('wait', { calendar_days: 0 })).toContain('calendar_days');
});

// Side effects

test('update_contact sets rendered values, keeps fields whose template renders empty, and clears only with a literal null', async () => {
  const { calls, effects } = recording();
  const data = {
    set: {
      first_name: '{{ data.name }}',
      email: '{{ data.missing }}',
      company: null,
      external_id: 5,
      'custom_fields.order': '{{ data.order }}',
      'custom_fields.gone': null,
    },
    add_tags: ['vip', '{{ data.tag }}', '{{ data.missing }}', 'vip'],
  };
  const result = await run('update_contact', data, { effects, roots: { data: { name: ' Grace ', order: { id: 1 }, tag: 'auto' } } });
  expect(result).toEqual({ kind: 'next', handle: 'default', output: { ok: true } });
  expect(calls).toEqual([
    {
      name: 'updateContact',
      key: '7:n1:1:1',
      argument: {
        set: { first_name: 'Grace', company: null, external_id: '5', 'custom_fields.order': { id: 1 }, 'custom_fields.gone': null },
        add_tags: ['vip', 'auto'],
        remove_tags: [],
      },
    },
  ]);
  expect(await run('update_contact', { set: { email: '{{ missing }}' } }, { effects })).toMatchObject({ output: { unchanged: true } });
  expect(calls).toHaveLength(1);
});

test('update_contact refuses fields that no contact has, by name', () => {
  expect(problems('update_contact', { set: { first_name: 'x', nickname: 'y', 'custom_fields.': 1 } })).toMatch(
    /set\.nickname: Unknown contact field "nickname"; use custom_fields\.<key> or one of first_name/,
  );
  expect(problems('update_contact', { set: { email: { a: 1 } } })).toContain('set.email');
  expect(problems('update_contact', {})).toContain('at least one');
  expect(problems('list_membership', {})).toContain('at least one');
});

test('without a contact update_contact and list_membership fail as no_contact', async () => {
  for (const type of ['update_contact', 'list_membership'])
    expect(await run(type, nodeTypes.get(type)!.example, { roots: { contact: null } })).toMatchObject({
      kind: 'fail',
      type: 'no_contact',
      retryable: false,
    });
});

test('list_membership and emit_event pass on rendered names and data under the key of the step', async () => {
  const { calls, effects } = recording();
  await run('list_membership', { add: ['{{ contact.custom_fields.tier }} customers'], remove: ['Leads'] }, { effects });
  await run(
    'emit_event',
    { event_type: 'reviewed_{{ size }}', data: { total: '{{ total }}' } },
    { effects, scope: { size: 'big', total: 5 } },
  );
  expect(calls.map(({ argument }) => argument)).toEqual([
    { add: ['gold customers'], remove: ['Leads'] },
    { event_type: 'reviewed_big', data: { total: 5 } },
  ]);
  expect(await run('emit_event', { event_type: '{{ missing }}' }, { effects })).toMatchObject({ kind: 'fail', type: 'invalid_event_type' });
});

const emitRefused = (error: Error) => run('emit_event', { event_type: 'x' }, { effects: recording(error).effects });

test('a refused effect fails the step, a rate limit may be tried again, and a fault of the service is thrown', async () => {
  expect(await emitRefused(notFound('Contact'))).toEqual({
    kind: 'fail',
    type: 'not_found',
    message: 'Contact not found',
    retryable: false,
  });
  expect(await emitRefused(rateLimited('slow down', 9))).toEqual({
    kind: 'fail',
    type: 'rate_limited',
    message: 'slow down',
    retryable: true,
    retryAfterSeconds: 9,
  });
  await expect(emitRefused(new Error('lost'))).rejects.toThrow('lost');
});

test('a dry run touches nothing and shows the request that would have gone out', async () => {
  const { calls, effects } = recording();
  const dry = (type: string, data: unknown) => run(type, data, { dryRun: true, effects, scope: { total: 5 } });
  expect(await dry('update_contact', { add_tags: ['vip'] })).toEqual({
    kind: 'next',
    handle: 'default',
    output: { simulated: true, request: { set: {}, add_tags: ['vip'], remove_tags: [] } },
  });
  expect(await dry('list_membership', { add: ['L'] })).toMatchObject({ output: { simulated: true, request: { add: ['L'], remove: [] } } });
  expect(await dry('emit_event', { event_type: 'x' })).toMatchObject({ output: { simulated: true, request: { event_type: 'x' } } });
  expect(await dry('http_request', { url: 'https://example.com/{{ total }}' })).toMatchObject({
    output: { simulated: true, request: { method: 'POST', url: 'https://example.com/5' } },
  });
  expect(calls).toEqual([]);
});

// http_request

async function http(
  data: object,
  response: OutboundResponse = { status: 200, headers: {}, body: '', is_cut: false },
  more: object = {},
): Promise<{ result: StepResult; request: OutboundRequest }> {
  const { calls, effects } = recording(response);
  const result = await run('http_request', { url: 'https://example.com/', ...data }, { effects, ...more });
  return { result, request: calls[0]?.argument as OutboundRequest };
}
const answer = (status: number, body = '', headers: Record<string, string> = {}) => ({ status, body, headers, is_cut: false });

test('http_request renders address, headers, query and body', async () => {
  const data = {
    method: 'PUT',
    url: 'https://example.com/orders/{{ id }}?a=1',
    headers: { 'X-Name': '{{ contact.first_name }}' },
    query: { q: 'a b&c', tags: ['x', 'y'], none: '{{ missing }}', n: '{{ total }}' },
    body: { total: '{{ total }}', nested: ['{{ id }}'] },
  };
  const { request } = await http(data, undefined, { scope: { id: '6012345678901234567', total: 5 } });
  expect(request).toEqual({
    method: 'PUT',
    url: 'https://example.com/orders/6012345678901234567?a=1&q=a+b%26c&tags=x&tags=y&n=5',
    headers: { 'idempotency-key': '7:n1:1:1', 'x-name': 'Ada', 'content-type': 'application/json' },
    body: '{"total":5,"nested":["6012345678901234567"]}',
    timeout_seconds: 10,
  });
});

test('http_request sends text as text, JSON text as JSON, and no body with GET', async () => {
  expect((await http({ body: 'hello' })).request).toMatchObject({
    body: 'hello',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  });
  expect((await http({ body: '{"a": 1}' })).request.headers['content-type']).toBe('application/json');
  expect((await http({ body: '{{ contact.custom_fields }}' })).request).toMatchObject({
    body: '{"tier":"gold"}',
    headers: { 'content-type': 'application/json' },
  });
  expect(
    (await http({ body: 'a=1', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } })).request.headers['content-type'],
  ).toBe('application/x-www-form-urlencoded');
  expect((await http({ method: 'GET', body: 'x' })).request.body).toBeNull();
});

test('http_request keeps the answer, long ids unharmed, and cuts it at 64 KiB', async () => {
  const { result } = await http({}, answer(201, '{"id":6012345678901234567}', { 'content-type': 'application/json' }));
  expect(result).toEqual({
    kind: 'next',
    handle: 'default',
    output: { status: 201, headers: { 'content-type': 'application/json' }, body: { id: '6012345678901234567' } },
  });
  expect((await http({}, answer(200, 'plain'))).result).toMatchObject({ output: { body: 'plain' } });
  expect((await http({}, answer(200, '{broken', { 'content-type': 'application/json' }))).result).toMatchObject({
    output: { body: '{broken' },
  });
  expect((await http({}, answer(204))).result).toMatchObject({ output: { body: null } });
  const long = ((await http({}, answer(200, `["${'ä'.repeat(70_000)}"]`))).result as { output: { body: string; body_is_cut: boolean } })
    .output;
  expect(new TextEncoder().encode(long.body).length).toBeLessThanOrEqual(64 * 1024 + 2);
  expect(long.body_is_cut).toBe(true);
});

test('http_request marks failures that may pass as retryable, and no others', async () => {
  for (const status of [408, 425, 429, 500, 503])
    expect((await http({}, answer(status))).result, String(status)).toMatchObject({ kind: 'fail', type: 'http_status', retryable: true });
  for (const status of [301, 400, 401, 404, 422])
    expect((await http({}, answer(status))).result, String(status)).toMatchObject({ kind: 'fail', retryable: false });
  expect((await http({}, answer(429, '', { 'retry-after': '17' }))).result).toMatchObject({ retryAfterSeconds: 17 });
  expect((await http({}, answer(503, '', { 'retry-after': 'Fri, 20 Nov 2026 15:16:00 GMT' }))).result).toMatchObject({
    retryAfterSeconds: 30,
  });
  expect((await http({}, { failure: 'network', message: 'no route' })).result).toEqual({
    kind: 'fail',
    type: 'network',
    message: 'no route',
    retryable: true,
  });
  expect((await http({}, { failure: 'refused', message: 'private address' })).result).toMatchObject({ type: 'refused', retryable: false });
  expect((await http({ success_codes: [404, '3xx'] }, answer(404))).result).toMatchObject({ kind: 'next' });
  expect((await http({ success_codes: [404, '3xx'] }, answer(200))).result).toMatchObject({
    kind: 'fail',
    message: expect.stringContaining('404, 3xx') as string,
  });
});

test('http_request signs by Standard Webhooks so that the receiver can verify it, with one id for all attempts', async () => {
  const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
  const signed = async (key: string) => (await http({ secret, body: { a: '{{ contact.first_name }}' } }, undefined, { key })).request;
  const [first, second] = [await signed('7:n1:1:1'), await signed('7:n1:1:2')];
  expect(
    await verifySignature({ type: 'standard_webhooks', secret }, new Headers(first.headers), new TextEncoder().encode(first.body!), now),
  ).toEqual({ ok: true });
  expect(first.headers['webhook-id']).toBe(second.headers['webhook-id']);
  expect(first.headers['idempotency-key']).not.toBe(second.headers['idempotency-key']);
  expect(JSON.stringify(first)).not.toContain(secret);
});

test('a dry run shows neither the secret nor credentials', async () => {
  const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
  const shown = JSON.stringify(
    await run(
      'http_request',
      {
        url: 'https://example.com',
        secret,
        headers: { Authorization: 'Bearer abc', 'X-Api-Key': 'def', 'X-Kind': 'ghi', Accept: 'text/plain' },
      },
      { dryRun: true },
    ),
  );
  for (const hidden of [secret, 'Bearer abc', '"def"', 'ghi']) expect(shown).not.toContain(hidden);
  expect(shown).toContain('text/plain');
});

test('http_request refuses requests that cannot be sent: before the run when possible, else as a failure that names the part', async () => {
  expect(problems('http_request', { url: 'ftp://example.com' })).toContain('url: Must be an absolute http:// or https:// URL');
  expect(problems('http_request', { url: 'https://user:pw@example.com' })).toContain('url:');
  expect(problems('http_request', { url: 'https://example.com', headers: { 'a b': 'x', Host: 'x', ok: 'a\nb' } }).split('\n')).toHaveLength(
    3,
  );
  expect(problems('http_request', { url: 'https://example.com', timeout_seconds: 31 })).toContain('timeout_seconds');
  expect(problems('http_request', { url: 'https://example.com', success_codes: ['9xx'] })).toContain('success_codes.0');
  expect(problems('http_request', { url: 'https://example.com', secret: 'no base64!' })).toContain('secret: Must be base64');
  expect(problems('http_request', { url: 'https://example.com', secret: 'sealed:v1:x' })).toContain('secret: Must be base64');
  expect((await http({ url: '{{ missing }}/x' })).result).toMatchObject({
    kind: 'fail',
    type: 'invalid_request',
    retryable: false,
    message: expect.stringContaining('url renders to "/x"') as string,
  });
  expect((await http({ headers: { 'X-A': '{{ lines }}' } }, undefined, { scope: { lines: 'a\nb' } })).result).toMatchObject({
    type: 'invalid_request',
    message: expect.stringContaining('"X-A"') as string,
  });
});

test('templates in node data are checked when the graph is', () => {
  const graph = {
    nodes: [
      { id: 't', type: 'trigger' },
      { id: 'h', type: 'http_request', data: { url: 'https://example.com/{{ a | nope }}', body: { deep: ['{% if %}'] } } },
    ],
    edges: [{ id: '1', source: 't', target: 'h' }],
  };
  expect(validateGraph(graph, nodeTypes).map(({ loc }) => loc.slice(2).join('.'))).toEqual([
    'nodes.h.data.url',
    'nodes.h.data.body.deep.0',
  ]);
});
