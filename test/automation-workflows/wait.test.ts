import { expect, test } from 'vitest';
import type { Effects, StepResult } from '../../src/automation-workflows/nodes/contract.ts';
import { waitNode } from '../../src/automation-workflows/nodes/types/wait.ts';
import { buildScope } from '../../src/expressions/templates/scope.ts';

const now = Date.UTC(2026, 10, 20, 15, 15, 30);
const organization = { default_country: 'US', timezone: 'America/New_York' };
const inBerlin = { id: 1, phone: '+12125550123', custom_fields: { timezone: 'Europe/Berlin' } };
const german = { id: 2, phone: '+4915112345678', custom_fields: {} };
const american = { id: 3, phone: '+12125550123', custom_fields: {} };

const wait = (data: object, contact: object | null = american, scope: Record<string, unknown> = {}): Promise<StepResult> =>
  waitNode.run({
    node: { id: 'w', type: 'wait', data: data as Record<string, unknown> },
    data: waitNode.dataSchema.parse(data),
    scope: buildScope({ contact, organization, now: new Date(now).toISOString() }, scope),
    now,
    enteredAt: now,
    key: '7:w:1:1',
    mayHaveHappened: false,
    unaskedTries: 0,
    quietHoursStart: null,
    call: { item: 'w:1:1', until: null },
    dryRun: false,
    effects: {} as Effects,
    organization,
  });

const outputOf = async (...given: Parameters<typeof wait>) => ((await wait(...given)) as { output: object }).output;
const whyOf = async (...given: Parameters<typeof wait>) => ((await outputOf(...given)) as { why: string }).why;

test('a wait says until when, in which zone, and by which rule that zone was found', async () => {
  const data = { time_of_day: '09:00', days: [0, 1, 2, 3, 4] };
  expect(await outputOf(data, inBerlin)).toEqual({
    until: '2026-11-23T08:00:00.000Z',
    timezone: 'Europe/Berlin',
    timezone_rule: 'contact',
    why: "until 09:00 on Monday to Friday in Europe/Berlin (the contact's custom field timezone)",
  });
  expect(await outputOf(data, german)).toMatchObject({
    until: '2026-11-23T08:00:00.000Z',
    timezone_rule: 'country',
    why: "until 09:00 on Monday to Friday in Europe/Berlin (the country of the contact's phone)",
  });
  const ofOrganization = {
    until: '2026-11-23T14:00:00.000Z',
    timezone_rule: 'organization',
    why: "until 09:00 on Monday to Friday in America/New_York (the organization's time zone)",
  };
  for (const contact of [american, null]) expect(await outputOf(data, contact)).toMatchObject(ofOrganization);
  expect(await outputOf({ ...data, timezone: 'organization' }, inBerlin)).toMatchObject(ofOrganization);
  expect(await outputOf({ ...data, timezone: 'Asia/Kathmandu' }, inBerlin)).toMatchObject({
    until: '2026-11-23T03:15:00.000Z',
    timezone_rule: 'fixed',
    why: 'until 09:00 on Monday to Friday in Asia/Kathmandu',
  });
});

test('the days are named as people say them', async () => {
  const daysOf = async (days?: number[]) =>
    /on (.*) in UTC/.exec(await whyOf({ time_of_day: '09:00', timezone: 'UTC', ...(days ? { days } : {}) }))![1];
  expect(await daysOf()).toBe('any day');
  expect(await daysOf([6, 5, 4, 3, 2, 1, 0])).toBe('any day');
  expect(await daysOf([6])).toBe('Sunday');
  expect(await daysOf([6, 5])).toBe('Saturday and Sunday');
  expect(await daysOf([4, 0, 2])).toBe('Monday, Wednesday and Friday');
  expect(await daysOf([3, 1, 2, 2])).toBe('Tuesday to Thursday');
});

test('exact durations and calendar days are distinguished', async () => {
  expect(await outputOf({ duration: 'PT{{ minutes }}M' }, inBerlin, { minutes: 30 })).toEqual({
    until: '2026-11-20T15:45:30.000Z',
    why: 'PT30M after the step began',
  });
  expect(await whyOf({ calendar_days: 2 }, german)).toBe(
    "2 calendar days on at the same local time in Europe/Berlin (the country of the contact's phone)",
  );
  expect(await whyOf({ calendar_days: 1, timezone: 'UTC' })).toBe('1 calendar day on at the same local time in UTC');
});

test('a timestamp names a zone only when it depends on one', async () => {
  expect(await outputOf({ until: '{{ at }}' }, german, { at: '2026-11-25T09:00' })).toEqual({
    until: '2026-11-25T08:00:00.000Z',
    timezone: 'Europe/Berlin',
    timezone_rule: 'country',
    why: "until 2026-11-25T09:00 in Europe/Berlin (the country of the contact's phone)",
  });
  expect(await outputOf({ until: '{{ at }}' }, german, { at: '2026-11-25T09:00:00+02:00' })).toEqual({
    until: '2026-11-25T07:00:00.000Z',
    why: 'until 2026-11-25T09:00:00+02:00',
  });
  expect(await whyOf({ until: '{{ at }}' }, german, { at: 1_795_700_000 })).toBe('until 1795700000');
});

test('a moment that has passed says that it is not waited for', async () => {
  for (const past_due of ['continue', 'skip'])
    expect(await outputOf({ until: '2026-11-20T16:15', past_due }, german)).toEqual({
      until: '2026-11-20T15:15:00.000Z',
      timezone: 'Europe/Berlin',
      timezone_rule: 'country',
      past_due,
      why: "not at all: the moment has passed; it was 2026-11-20T16:15 in Europe/Berlin (the country of the contact's phone)",
    });
});
