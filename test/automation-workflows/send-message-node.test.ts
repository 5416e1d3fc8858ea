import { describe, expect, test } from 'vitest';
import { findNodeType } from '../../src/automation-workflows/nodes/registry.ts';
import { simulateJourney, type SimulatedRun, type SimulatedWorld } from '../support/simulated-runs.ts';

const ada = { first_name: 'Ada', phone: '+14155550100', custom_fields: { visits: 3 } };
const template = { template_name: 'order_update', language: 'en', template_params: { 1: '{{ contact.first_name }}', 2: '{{ order }}' } };
const handles = ['sent', 'failed', 'default', 'error'];

/**
 * A message whose handles lead to exits with the handles' names. The handles in `without` have no edge, so the run goes on at `default`.
 */
const messaging = (data: object = template, { without = [] as string[], settings = {} } = {}): SimulatedRun['journey'] => ({
  settings,
  definition: {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      { id: 'text', type: 'send_message', data },
      ...handles.map((handle) => ({ id: handle, type: 'exit', data: { outcome: `${handle} {{ steps.text.reason }}` } })),
    ],
    edges: [
      { id: 'start', source: 'in', target: 'text' },
      ...handles
        .filter((handle) => !without.includes(handle))
        .map((handle) => ({ id: handle, source: 'text', target: handle, source_handle: handle })),
    ],
  },
});

const run = (journey: SimulatedRun['journey'], world: SimulatedWorld | null = {}, more: Partial<SimulatedRun> = {}) =>
  simulateJourney({
    journey,
    at: '2027-03-08T10:00:00',
    zone: 'UTC',
    contact: ada,
    context: { order: 1001 },
    ...more,
    ...(world && { world }),
  });

const messagesOf = ({ performed }: Awaited<ReturnType<typeof simulateJourney>>) =>
  performed.filter(({ effect }) => effect === 'send_message').map(({ at, request }) => ({ at, ...request }));

const failing = (failure: string, more: object = {}): SimulatedWorld => ({
  message: () => ({ failure: { failure, message: `${failure}: why`, ...more } as never }),
});

describe('a message', () => {
  test('goes to the contact, filled in, under the name of the attempt, and leads along sent', async () => {
    const walked = await run(messaging());
    expect(walked.outcome).toBe('sent ');
    expect(messagesOf(walked)).toEqual([
      {
        at: expect.any(String),
        key: '7:text:1:1',
        to: '+14155550100',
        content: { kind: 'template', templateName: 'order_update', language: 'en', params: { 1: 'Ada', 2: '1001' } },
        provider: undefined,
        notAfter: null,
        unaskedTries: 0,
      },
    ]);
    expect(walked.outputOf('text')).toEqual({
      message: 31,
      provider: 'provider_b',
      to: '+14155550100',
      kind: 'template',
      template_name: 'order_update',
      language: 'en',
      template_params: { 1: 'Ada', 2: '1001' },
      status: 'accepted',
      message_id: 'wamid.1',
      reason: null,
    });
  });

  test('goes to the number and through the provider of the data, also as a text', async () => {
    const walked = await run(messaging({ to: '(212) 555-{{ "0199" }}', text: 'Hello {{ contact.first_name }}', provider: 'provider_d' }));
    expect(messagesOf(walked)).toMatchObject([
      { to: '+12125550199', content: { kind: 'text', text: 'Hello Ada' }, provider: 'provider_d' },
    ]);
  });

  test('is given numbers and truth values as text, and a missing value as an empty one', async () => {
    const params = { 1: '{{ contact.custom_fields.visits }}', 2: 7, 3: true, 4: '{{ nothing }}' };
    const [message] = messagesOf(await run(messaging({ ...template, template_params: params })));
    expect(message.content.params).toEqual({ 1: '3', 2: '7', 3: 'true', 4: '' });
  });

  test('is only shown in a dry run', async () => {
    const walked = await run(messaging(), null);
    expect(walked.outcome?.trim()).toBe('sent');
    expect(walked.performed).toEqual([]);
    expect(walked.outputOf('text')).toEqual({
      simulated: true,
      request: {
        provider: null,
        to: '+14155550100',
        kind: 'template',
        template_name: 'order_update',
        language: 'en',
        template_params: { 1: 'Ada', 2: '1001' },
      },
    });
    expect((await run(messaging(template, { without: ['sent'] }), null)).outcome?.trim()).toBe('default');
  });
});

describe('what keeps a message from being sent', () => {
  test.each(['suppressed', 'not_on_channel', 'window_closed', 'opted_out', 'rate_limited', 'unknown'])(
    '%s is an outcome: it leads along failed with the reason, else along default',
    async (failure) => {
      const walked = await run(messaging(), failing(failure, { code: '131026' }));
      expect(walked.outcome).toBe(`failed ${failure}: why`);
      expect(walked.outputOf('text')).toMatchObject({ status: 'failed', message_id: null, failure_class: failure, failure_code: '131026' });
      expect((await run(messaging(template, { without: ['failed'] }), failing(failure))).outcome).toBe(`default ${failure}: why`);
    },
  );

  test.each([
    ['not_configured', 'messaging_not_configured'],
    ['auth', 'auth'],
    ['template_missing', 'template_missing'],
    ['template_params', 'template_params'],
    ['template_paused', 'template_paused'],
    ['media', 'media'],
    ['balance', 'balance'],
  ])('%s is for somebody to mend: it leads along error, or fails the run, and is not tried again', async (failure, type) => {
    expect((await run(messaging(), failing(failure))).outcome?.trim()).toBe('error');
    const walked = await run(messaging(template, { without: ['error'] }), failing(failure));
    expect(walked).toMatchObject({ state: 'failed', error: { node_id: 'text', type, message: `${failure}: why` } });
    expect(messagesOf(walked)).toHaveLength(1);
  });

  test('a passing failure is retried, each time under the name of the attempt', async () => {
    const troubles = [{ failure: 'provider_down' }, { failure: 'rate_limited', retryAfterSeconds: 120 }];
    let tries = 0;
    const world: SimulatedWorld = {
      message: () => {
        const trouble = troubles[tries++];
        return trouble ? { failure: { ...trouble, message: 'later', retryable: true } as never } : {};
      },
    };
    const walked = await run(messaging(), world);
    expect(walked.outcome).toBe('sent ');
    expect(messagesOf(walked).map(({ key }) => key)).toEqual(['7:text:1:1', '7:text:1:2', '7:text:1:3']);
    const [, second, third] = messagesOf(walked).map(({ at }) => Date.parse(at));
    expect(third! - second!).toBeGreaterThanOrEqual(120_000);
    expect((await run(messaging(), failing('provider_down', { retryable: true }))).outcome?.trim()).toBe('error');
  });

  test('a message with an unknown outcome fails as unknown, and is not retried', async () => {
    const walked = await run(messaging(template, { without: ['error'] }), failing('provider_down', { outcomeUnknown: true }));
    expect(walked).toMatchObject({ state: 'failed', error: { type: 'unknown' } });
    expect(messagesOf(walked)).toHaveLength(1);
  });

  test('an invalid number, and a run without a contact, fail with the correction', async () => {
    const unforgiving = (data: object) => messaging(data, { without: ['error'] });
    expect(await run(unforgiving({ ...template, to: 'n/a' }))).toMatchObject({ state: 'failed', error: { type: 'invalid_phone' } });
    expect(await run(unforgiving(template), {}, { contact: null })).toMatchObject({
      state: 'failed',
      error: { type: 'no_phone', message: expect.stringContaining('a run without contact needs a number') },
    });
    const listed = await run(unforgiving({ ...template, template_params: { 1: '{{ contact.tags }}' } }));
    expect(listed).toMatchObject({
      state: 'failed',
      error: { type: 'template_params', message: expect.stringContaining('["1"] gives a list') },
    });
    expect(listed.performed).toEqual([]);
  });
});

test('a message waits for the end of quiet hours, or is left out', async () => {
  const night = {
    slots: [0, 1, 2, 3, 4, 5, 6].map((day_of_week) => ({ day_of_week, start_time: '20:00', end_time: '08:00' })),
    timezone: 'UTC',
  };
  const at = { at: '2027-03-08T23:15:00' };
  const deferred = await run(messaging(template, { settings: { quiet_hours: night } }), {}, at);
  expect(messagesOf(deferred)).toMatchObject([{ at: '2027-03-09T08:00:00Z', notAfter: Date.parse('2027-03-09T20:00:00Z') }]);
  const skipped = await run(messaging(template, { settings: { quiet_hours: { ...night, policy: 'skip' } } }), {}, at);
  expect(skipped).toMatchObject({ outcome: 'default ', performed: [] });
});

test('data with a template and a text at once, an unknown provider or a list of parameters is refused', () => {
  const issuesOf = (data: object) =>
    (findNodeType('send_message')!.dataSchema.safeParse(data).error?.issues ?? []).map(({ path }) => path.join('.'));
  expect(issuesOf(template)).toEqual([]);
  expect(issuesOf({})).toEqual([]);
  expect(issuesOf({ ...template, text: 'Hello' })).toEqual(['text']);
  expect(issuesOf({ ...template, provider: 'provider_z' })).toEqual(['provider']);
  expect(issuesOf({ ...template, template_params: ['Ada'] })).toEqual(['template_params']);
  expect(issuesOf({ ...template, template_params: { 1: ['Ada'] } })).toEqual(['template_params.1']);
});
