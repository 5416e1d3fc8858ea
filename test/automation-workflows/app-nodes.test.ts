import { expect, test } from 'vitest';
import type { Effects, StepResult } from '../../src/automation-workflows/nodes/contract.ts';
import { findNodeType } from '../../src/automation-workflows/nodes/registry.ts';
import { buildScope } from '../../src/expressions/templates/scope.ts';

const now = Date.UTC(2026, 10, 28, 8);
const organization = { id: 1, name: 'Acme', default_country: 'US', timezone: 'America/New_York' };
const contact = { id: 42, phone: '+493012345678', first_name: 'Ada <!channel>', email: 'ada@example.com', custom_fields: {}, tags: [] };
const effectOf: Record<string, keyof Effects> = {
  chatapp_message: 'postToChannel',
  tracker_issue: 'createIssue',
  calendar_event: 'createEvent',
  sheet_row: 'appendRow',
};
const types = Object.keys(effectOf);

interface Circumstances {
  scope?: object;
  answer?: object;
  dryRun?: boolean;
  mayHaveHappened?: boolean;
}

/** Runs a node of a type. Returns its result and the requests that it made. */
async function run(type: string, data: object, circumstances: Circumstances = {}): Promise<{ result: StepResult; asked: any }> {
  const nodeType = findNodeType(type)!;
  const { scope = {}, answer = { id: 'x' }, dryRun = false, mayHaveHappened = false } = circumstances;
  let asked: unknown;
  const effect = async (key: string, request: unknown) => {
    asked = { key, request };
    return answer;
  };
  const result = await nodeType.run({
    node: { id: 'n1', type, data: data as Record<string, unknown> },
    data: nodeType.dataSchema.parse(data),
    scope: buildScope({ contact, organization, now: new Date(now).toISOString() }, scope as Record<string, unknown>),
    now,
    enteredAt: now,
    key: '7:n1:1:1',
    mayHaveHappened,
    unaskedTries: 0,
    quietHoursStart: null,
    call: { item: 'n1:1:1', until: null },
    dryRun,
    effects: { [effectOf[type]!]: effect } as unknown as Effects,
    organization,
  });
  return { result, asked };
}

const sound: Record<string, object> = {
  chatapp_message: { channel: 'C1', text: 'Hello' },
  tracker_issue: { project: 'OPS', summary: 'Call back' },
  calendar_event: { start: '2026-11-28T09:00', duration: 'PT30M', summary: 'Visit' },
  sheet_row: { values: { Phone: '{{ contact.phone }}' } },
};

test('mentions in variables notify nobody; the formatting in the template stays', async () => {
  const text = '<!here> {{ contact.first_name }} & co. {{ note | upcase }}{% if note == "a<b" %} <https://example.com|more>{% endif %}';
  const { asked } = await run('chatapp_message', { channel: '{{ where }}', text }, { scope: { note: 'a<b', where: ' #leads ' } });
  expect(asked.request).toEqual({ channel: '#leads', text: '<!here> Ada &lt;!channel&gt; & co. A&lt;B <https://example.com|more>' });
});

test('a message that is one expression is escaped, whatever the type of its value', async () => {
  const textOf = async (said: unknown) => (await run('chatapp_message', { text: '{{ said }}' }, { scope: { said } })).asked.request.text;
  expect(await textOf('<!everyone>')).toBe('&lt;!everyone&gt;');
  expect(await textOf({ a: ['<@U1>'] })).toBe('{"a":["&lt;@U1&gt;"]}');
  expect(await textOf(7)).toBe('7');
});

test('without a channel or a project the defaults of the integration apply', async () => {
  expect((await run('chatapp_message', { text: 'Hello' })).asked.request.channel).toBeNull();
  expect((await run('tracker_issue', { summary: 'One' })).asked.request).toMatchObject({
    project: null,
    issueType: null,
    description: null,
  });
});

test('an issue has one line of summary, and fields in the form of the tracker, rendered', async () => {
  const { asked, result } = await run(
    'tracker_issue',
    {
      project: '{{ key }}',
      issue_type: 'Bug',
      summary: 'Call {{ contact.phone }}\n  back',
      description: 'As {{ contact.email }} says',
      fields: { labels: ['{{ key }}', 'vip'], priority: { name: 'High' }, count: '{{ count }}' },
    },
    { scope: { key: 'OPS', count: 3 }, answer: { id: '1', key: 'OPS-1', url: 'https://acme.atlassian.net/browse/OPS-1' } },
  );
  expect(asked).toEqual({
    key: '7:n1:1:1',
    request: {
      project: 'OPS',
      issueType: 'Bug',
      summary: 'Call +493012345678 back',
      description: 'As ada@example.com says',
      fields: { labels: ['OPS', 'vip'], priority: { name: 'High' }, count: 3 },
      mayExist: false,
    },
  });
  expect(result).toMatchObject({ kind: 'next', handle: 'default', output: { key: 'OPS-1', issue_type: 'Bug' } });
});

test.each([
  ['organization', '2026-11-28T14:00:00.000Z', 'America/New_York'],
  ['contact', '2026-11-28T08:00:00.000Z', 'Europe/Berlin'],
  ['Asia/Tokyo', '2026-11-28T00:00:00.000Z', 'Asia/Tokyo'],
])('a time without offset is local time in the zone "%s"', async (timezone, start, timeZone) => {
  const { asked } = await run('calendar_event', { start: '2026-11-28T09:00', duration: 'PT30M', summary: 'Visit', timezone });
  const end = new Date(Date.parse(start) + 1_800_000).toISOString();
  expect(asked.request).toMatchObject({ start, end, timeZone, summary: 'Visit', attendees: [] });
});

test('an event goes from start to end, exact where they have an offset, and attendees without an address are left out', async () => {
  const data = {
    calendar_id: 'team@example.com',
    start: '{{ from }}',
    end: '{{ to }}',
    summary: 'Visit',
    attendees: ['{{ contact.email }}', '{{ nobody }}', ' ada@example.com '],
  };
  const scope = { from: '2026-11-28T09:00:00+05:30', to: 1_795_839_000 };
  const { asked } = await run('calendar_event', data, { scope });
  expect(asked.request).toMatchObject({
    calendarId: 'team@example.com',
    start: '2026-11-28T03:30:00.000Z',
    end: new Date(scope.to * 1000).toISOString(),
    attendees: ['ada@example.com'],
  });
});

test('a row has text in every cell, whatever the values are', async () => {
  const values = { Phone: '{{ contact.phone }}', Count: 7, Won: true, Note: null, All: '{{ list }}' };
  const { asked } = await run('sheet_row', { integration_id: 3, values }, { scope: { list: [1, 2] }, mayHaveHappened: true });
  expect(asked.request).toEqual({
    integrationId: 3,
    values: { Phone: '+493012345678', Count: '7', Won: 'true', Note: '', All: '[1,2]' },
    mayExist: true,
  });
});

test.each<[string, object, string]>([
  ['chatapp_message', { channel: '{{ nothing }}', text: 'Hello' }, 'no_channel'],
  ['chatapp_message', { text: ' {{ nothing }} ' }, 'no_text'],
  ['tracker_issue', { project: '{{ nothing }}', summary: 'One' }, 'no_project'],
  ['tracker_issue', { summary: '{{ nothing }}' }, 'no_summary'],
  ['calendar_event', { start: '{{ nothing }}', duration: 'PT30M', summary: 'Visit' }, 'invalid_time'],
  ['calendar_event', { start: '2026-11-28T09:00', end: '2026-11-28T09:00', summary: 'Visit' }, 'invalid_time'],
  ['calendar_event', { start: '2026-11-28T09:00', end: '{{ nothing }}', summary: 'Visit' }, 'invalid_time'],
  ['calendar_event', { start: '2026-11-28T09:00', duration: '{{ nothing }}', summary: 'Visit' }, 'invalid_time'],
  ['calendar_event', { start: '2026-11-28T09:00', duration: 'PT30M', summary: 'Visit', attendees: ['ada'] }, 'invalid_attendee'],
  ['sheet_row', { values: { Phone: '{{ nothing }}' } }, 'no_values'],
  ['sheet_row', { values: { Phone: '{{ long }}' } }, 'value_too_long'],
])('%s asks nobody for what renders to %j, and fails as %s', async (type, data, failure) => {
  const { result, asked } = await run(type, data, { scope: { long: 'x'.repeat(50_001) } });
  expect(asked).toBeUndefined();
  expect(result).toMatchObject({ kind: 'fail', type: failure, retryable: false, message: expect.stringMatching(/^[a-z]+/) });
});

test.each<[string, object, string]>([
  ['chatapp_message', { channel: 'C1' }, 'text'],
  ['chatapp_message', { channel: '', text: 'Hello' }, 'channel'],
  ['tracker_issue', { project: 'OPS' }, 'summary'],
  ['tracker_issue', { summary: 'One', fields: { issuetype: { name: 'Bug' } } }, 'fields.issuetype'],
  ['calendar_event', { start: 'tomorrow', duration: 'PT30M', summary: 'Visit' }, 'start'],
  ['calendar_event', { start: '2026-11-28T09:00', summary: 'Visit' }, 'end'],
  ['calendar_event', { start: '2026-11-28T09:00', end: '2026-11-28T10:00', duration: 'PT1H', summary: 'Visit' }, 'end'],
  ['calendar_event', { start: '2026-11-28T09:00', duration: 'an hour', summary: 'Visit' }, 'duration'],
  ['calendar_event', { start: '2026-11-28T09:00', duration: 'PT1H', summary: 'Visit', timezone: 'Mars' }, 'timezone'],
  ['sheet_row', {}, 'values'],
  ['sheet_row', { values: {} }, 'values'],
  ['sheet_row', { integration_id: '3', values: { Phone: 'x' } }, 'integration_id'],
  ['sheet_row', { values: { Phone: ['x'] } }, 'values.Phone'],
])('the data of %s %j are refused at %s', (type, data, field) => {
  const { error } = findNodeType(type)!.dataSchema.safeParse(data);
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
});

test.each(types)('%s only shows in a dry run what it would ask for', async (type) => {
  const { result, asked } = await run(type, sound[type]!, { dryRun: true });
  expect(asked).toBeUndefined();
  expect(result).toMatchObject({ kind: 'next', handle: 'default', output: { simulated: true, request: expect.any(Object) } });
});

test.each(types)('%s fails by the name of what the provider says, and is tried again only where that may help', async (type) => {
  const failing = async (answer: object) => (await run(type, sound[type]!, { answer })).result;
  for (const failure of ['not_connected', 'insufficient_permissions', 'rejected', 'no_channel', 'no_project', 'no_sheet'])
    expect(await failing({ failure, message: 'as it says' })).toMatchObject({
      kind: 'fail',
      type: failure,
      retryable: false,
      message: expect.stringContaining('as it says'),
    });
  expect(await failing({ failure: 'rate_limited', message: 'slowly', retryAfterSeconds: 30 })).toEqual({
    kind: 'fail',
    type: 'rate_limited',
    message: 'slowly',
    retryable: true,
    retryAfterSeconds: 30,
  });
  expect(await failing({ failure: 'unavailable', message: 'away' })).toMatchObject({ type: 'unavailable', retryable: true });
});

test('an action with an unknown outcome is repeated only when the repeat looks for the earlier effect', async () => {
  const answer = { failure: 'unavailable', message: 'no answer', outcomeUnknown: true };
  for (const type of types) {
    const { result } = await run(type, sound[type]!, { answer });
    expect(result, type).toMatchObject(
      type === 'chatapp_message'
        ? { kind: 'fail', type: 'unknown', retryable: false, message: expect.stringContaining('not done again') }
        : { kind: 'fail', type: 'unavailable', retryable: true },
    );
    expect(findNodeType(type)!.afterCrash?.(sound[type]) ?? 'repeat', type).toBe(type === 'chatapp_message' ? 'unknown' : 'repeat');
  }
});
