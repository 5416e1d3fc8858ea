import { describe, expect, test } from 'vitest';
import { conflict, notFound, type ServiceError } from '../../src/library/errors.ts';
import type { CallResult } from '../../src/calls/records/call-result.ts';
import { returnReasons } from '../../src/calls/contract.ts';
import { findNodeType } from '../../src/automation-workflows/nodes/registry.ts';
import { simulateJourney, type SimulatedRun, type SimulatedWorld } from '../support/simulated-runs.ts';

const at = '2027-03-08T10:00:00';
const ada = { first_name: 'Ada', phone: '+14155550100' };

/** A call whose handles lead to exits with the handles' names. The handles in `without` have no edge, so the run goes on at `default`. */
const calling = (data: object = {}, { without = [] as string[], settings = {} } = {}): SimulatedRun['journey'] => ({
  settings,
  definition: {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      { id: 'call', type: 'voice_call', data: { workflow_id: 12, ...data } },
      ...handles.map((handle) => ({ id: handle, type: 'exit', data: { outcome: `${handle} {{ steps.call.reason }}` } })),
    ],
    edges: [
      { id: 'start', source: 'in', target: 'call' },
      ...handles
        .filter((handle) => !without.includes(handle))
        .map((handle) => ({ id: handle, source: 'call', target: handle, source_handle: handle })),
    ],
  },
});
const handles = ['completed', 'no_answer', 'busy', 'voicemail', 'failed', 'default', 'error'];

const run = (journey: SimulatedRun['journey'], world?: SimulatedWorld, more: Partial<SimulatedRun> = {}) =>
  simulateJourney({ journey, at, zone: 'UTC', contact: ada, ...more, ...(world && { world }) });

/** Answers the calls of a run one after the other, the last as often as needed. */
function inTurn(...results: (Partial<CallResult> | null)[]): SimulatedWorld {
  let asked = 0;
  return { call: () => results[Math.min(asked++, results.length - 1)]! };
}

const callsOf = ({ performed }: Awaited<ReturnType<typeof simulateJourney>>) =>
  performed.filter(({ effect }) => effect === 'voice_call').map((one) => ({ at: one.at, ...one.request }));

describe('what becomes of a call', () => {
  test.each(['completed', 'no_answer', 'busy', 'voicemail', 'failed'] as const)(
    '%s leads along the handle of that name',
    async (outcome) => {
      const walked = await run(calling(), inTurn({ outcome }));
      expect(walked.outcome?.trim()).toBe(outcome);
      const onward = await run(calling({}, { without: [outcome] }), inTurn({ outcome }));
      expect(onward.outcome?.trim()).toBe('default');
    },
  );

  test('a cancelled call is one that failed', async () => {
    const walked = await run(calling(), inTurn({ outcome: 'cancelled', reason: 'gone: the call is no longer there' }));
    expect(walked.outcome).toBe('failed gone: the call is no longer there');
  });

  test('the output tells what the talk led to', async () => {
    const result = {
      outcome: 'completed' as const,
      disposition: 'interested',
      extracted_variables: { budget: 900 },
      summary: 'Wants one.',
    };
    const walked = await run(calling(), inTurn(result));
    expect(walked.outputOf('call')).toEqual({
      call_run_id: 1,
      phone: '+14155550100',
      until: '2027-03-09T10:00:00.000Z',
      why: expect.stringContaining('until the call'),
      reason: null,
      duration_seconds: 40,
      ...result,
    });
  });

  test('a number that must not be called, or a contact that is gone, leads along failed with the reason', async () => {
    for (const returned of ['suppressed', 'contact_deleted', 'number_unassignable'] as const) {
      const walked = await run(calling(), inTurn({ outcome: 'cancelled', returned, reason: `${returned}: not to be called` }));
      expect(walked.outcome).toBe(`failed ${returned}: not to be called`);
      expect(walked.outputOf('call')).toMatchObject({ outcome: 'failed' });
    }
    const refused = await run(calling(), { refuses: { voice_call: conflict('+14155550100 must not be called (asked)', 'suppressed') } });
    expect(refused.outcome).toBe('failed suppressed: +14155550100 must not be called (asked)');
    expect(refused.outputOf('call')).toEqual({
      call_run_id: null,
      phone: '+14155550100',
      outcome: 'failed',
      reason: 'suppressed: +14155550100 must not be called (asked)',
      disposition: null,
      extracted_variables: {},
      summary: null,
      duration_seconds: 0,
    });
  });

  test('what a person has to mend leads along error, and fails the run where nothing is there', async () => {
    for (const returned of ['agent_archived', 'telephony_not_configured'] as const) {
      const answer = inTurn({ outcome: 'failed', returned, reason: `${returned}: mend it` });
      expect((await run(calling(), answer)).outcome?.trim()).toBe('error');
      const failed = await run(calling({}, { without: ['error'] }), answer);
      expect(failed).toMatchObject({ state: 'failed', error: { node_id: 'call', type: returned, message: `${returned}: mend it` } });
    }
    const refusals: [ServiceError, string][] = [
      [notFound('Voice agent'), 'not_found'],
      [conflict('Agent 12 is archived and takes no calls'), 'conflict'],
      [conflict('Create a configuration', 'telephony_not_configured'), 'telephony_not_configured'],
    ];
    for (const [refusal, type] of refusals) {
      const failed = await run(calling({}, { without: ['error'] }), { refuses: { voice_call: refusal } });
      expect(failed).toMatchObject({ state: 'failed', error: { type, message: refusal.message } });
    }
  });
});

describe('a call that came back undialled', () => {
  test('is asked for again under a name of its own, when that makes sense', async () => {
    const until = Date.parse('2027-03-08T11:30:00Z');
    const world = inTurn({ returned: 'too_soon', returned_until: until, reason: 'too_soon: called at 9:30' }, { outcome: 'busy' });
    const walked = await run(calling(), world);
    expect(walked.outcome?.trim()).toBe('busy');
    expect(callsOf(walked).map((call) => call.at)).toEqual(['2027-03-08T10:00:00Z', '2027-03-08T11:30:00Z']);
    // The time that the run waits for it began with the first asking.
    expect(walked.outputOf('call').until).toBe('2027-03-09T10:00:00.000Z');
    expect(walked.steps.filter((step) => step.includes(' call'))).toEqual([
      '2027-03-08T10:00:00Z call retrying',
      '2027-03-08T11:30:00Z call',
    ]);
  });

  test('is not asked for again after its time-out: too soon goes on at failed at once', async () => {
    const until = Date.parse('2027-03-08T15:00:00Z');
    const walked = await run(
      calling({ timeout: 'PT4H' }),
      inTurn({ returned: 'too_soon', returned_until: until, reason: 'too_soon: called at 9:30' }),
    );
    expect(walked.outcome).toBe('failed too_soon: called at 9:30');
    expect(callsOf(walked)).toHaveLength(1);
  });

  test('by the contact policy is asked for again at its moment, or leads along failed if there is none', async () => {
    const until = Date.parse('2027-03-08T11:30:00Z');
    const held = { returned: 'contact_policy' as const, reason: 'contact_policy: quiet hours in UTC (quiet_hours)' };
    const walked = await run(calling(), inTurn({ ...held, returned_until: until }, { outcome: 'busy' }));
    expect(walked.outcome?.trim()).toBe('busy');
    expect(callsOf(walked).map((call) => call.at)).toEqual(['2027-03-08T10:00:00Z', '2027-03-08T11:30:00Z']);
    const skipped = await run(calling(), inTurn({ ...held, returned_until: null }));
    expect(skipped.outcome).toBe('failed contact_policy: quiet hours in UTC (quiet_hours)');
    expect(callsOf(skipped)).toHaveLength(1);
  });

  test('never makes a storm, and what was withdrawn by another hand is asked for again', async () => {
    const walked = await run(
      calling(),
      inTurn({ returned: 'window_closed' }, { returned: 'withdrawn' }, { returned: 'window_closed' }, {}),
    );
    expect(walked.outcome?.trim()).toBe('completed');
    expect(callsOf(walked).map((call) => call.at)).toEqual([0, 1, 2, 3].map((second) => `2027-03-08T10:00:0${second}Z`));
  });

  test('ends the run with its step limit, if it comes back for ever', async () => {
    const walked = await run(calling({}, { settings: { timeout: 'P1Y' } }), inTurn({ returned: 'withdrawn' }));
    expect(walked).toMatchObject({ state: 'failed', error: { type: 'too_many_steps' } });
  });

  test.each(returnReasons)('whatever the reason (%s), the run goes on or ends', async (returned) => {
    const walked = await run(calling(), inTurn({ returned, outcome: 'cancelled', reason: null }, {}));
    expect(walked.state).toBe('completed');
  });
});

describe('time', () => {
  const night = {
    timezone: 'UTC',
    slots: [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day_of_week: day, start_time: '18:00', end_time: '09:00' })),
  };

  test('a call that has not ended by its time-out is taken back, and the run goes on at failed', async () => {
    const walked = await run(calling({ timeout: 'PT2H' }), inTurn(null));
    expect(walked.outcome).toMatch(/^failed timeout: the call had not ended by 2027-03-08T12:00:00/);
    expect(walked.performed.at(-1)).toMatchObject({ at: '2027-03-08T12:00:00Z', effect: 'withdraw', request: 'call:1:1' });
    expect(walked.outputOf('call')).toMatchObject({ call_run_id: 1, outcome: 'failed', extracted_variables: {} });
  });

  test('a call whose end was not reported counts at the time-out after all', async () => {
    // Looked at when it was asked for, and after 10, 30 and 70 minutes.
    const silent = [null, null, null, null];
    expect((await run(calling({ timeout: 'PT2H' }), inTurn(...silent, { outcome: 'busy' }))).outcome?.trim()).toBe('busy');
    const late = await run(calling({ timeout: 'PT2H' }), inTurn(...silent, { returned: 'withdrawn', outcome: 'cancelled' }));
    expect(late.outcome).toContain('failed timeout:');
  });

  test('a call must not be dialled after quiet hours have begun; one that was too late is asked for when they end', async () => {
    const journey = calling({ timeout: 'PT12H' }, { settings: { quiet_hours: night } });
    const closed = Date.parse('2027-03-08T18:00:00Z');
    const world = inTurn({ returned: 'window_closed', returned_until: closed }, { outcome: 'no_answer' });
    const walked = await run(journey, world);
    expect(callsOf(walked)).toMatchObject([
      { at: '2027-03-08T10:00:00Z', not_after: closed },
      { at: '2027-03-09T09:00:00Z', not_after: closed + 86_400_000 },
    ]);
    // The night does not count: the time-out begins with the second asking.
    expect(walked.outputOf('call').until).toBe('2027-03-09T21:00:00.000Z');
    expect(walked.outcome?.trim()).toBe('no_answer');
    expect(walked.steps.slice(1)).toEqual([
      '2027-03-08T10:00:00Z call retrying',
      '2027-03-08T18:00:00Z call',
      '2027-03-09T09:00:00Z call',
      '2027-03-09T09:00:00Z no_answer',
    ]);
  });

  test('in quiet hours a call waits, or is left out', async () => {
    const evening = { at: '2027-03-08T20:00:00' };
    const deferred = await run(calling({}, { settings: { quiet_hours: night } }), inTurn({}), evening);
    expect(callsOf(deferred).map((call) => call.at)).toEqual(['2027-03-09T09:00:00Z']);
    const skipped = await run(calling({}, { settings: { quiet_hours: { ...night, policy: 'skip' } } }), inTurn({}), evening);
    expect(callsOf(skipped)).toEqual([]);
    expect(skipped.outcome?.trim()).toBe('default');
  });

  test('without quiet hours it may be dialled at any time', async () => {
    expect(callsOf(await run(calling(), inTurn({})))).toMatchObject([{ not_after: null }]);
  });
});

describe('who is called, and with what', () => {
  test('the contact, unless phone says otherwise; numbers are read as everywhere', async () => {
    const numberOf = async (data: object, contact: Record<string, unknown> | null = ada) =>
      callsOf(await run(calling(data), inTurn({}), { contact, context: { office: '(212) 555-0123' } }))[0]?.phone;
    expect(await numberOf({})).toBe('+14155550100');
    expect(await numberOf({ phone: '{{ office }}' })).toBe('+12125550123');
    expect(await numberOf({ phone: '+49 30 901820' }, null)).toBe('+4930901820');
  });

  test('no number, or none that can be called, fails the step before anybody is asked', async () => {
    const failing = (contact: Record<string, unknown> | null, data = {}) =>
      run(calling(data, { without: ['error'] }), inTurn({}), { contact });
    expect(await failing(null)).toMatchObject({ state: 'failed', error: { type: 'no_phone' }, performed: [] });
    expect(await failing({ first_name: 'Ada', phone: null })).toMatchObject({ error: { type: 'no_phone' }, performed: [] });
    const wrong = await failing(ada, { phone: '12' });
    expect(wrong).toMatchObject({ error: { type: 'invalid_phone', message: expect.stringContaining('"12"') }, performed: [] });
  });

  test('initial_context is rendered, with types kept', async () => {
    const data = { initial_context: { name: '{{ contact.first_name }}', total: '{{ total }}', deep: ['{{ total | plus: 1 }}'] } };
    const walked = await run(calling(data), inTurn({}), { context: { total: 12 } });
    expect(callsOf(walked)).toMatchObject([{ workflow_id: 12, initial_context: { name: 'Ada', total: 12, deep: [13] } }]);
  });

  test('a time-out may be a template; one that is none fails the step', async () => {
    expect((await run(calling({ timeout: '{{ limit }}' }), inTurn(null), { context: { limit: 'PT1H' } })).outcome).toContain('timeout:');
    const failed = await run(calling({ timeout: '{{ limit }}' }, { without: ['error'] }), inTurn(null));
    expect(failed).toMatchObject({ error: { type: 'invalid_wait' }, performed: [] });
  });
});

test('without wait_for_result it goes on at once along default', async () => {
  const walked = await run(calling({ wait_for_result: false }), inTurn(null));
  expect(walked).toMatchObject({ state: 'completed', outcome: 'default ' });
  expect(walked.outputOf('call')).toEqual({ call_run_id: 1, phone: '+14155550100' });
  expect(walked.performed.map(({ effect }) => effect)).toEqual(['voice_call']);
});

test('a dry run shows the call that would be asked for, and goes on as if a person was reached', async () => {
  const walked = await run(calling({ initial_context: { name: '{{ contact.first_name }}' } }));
  expect(walked.outcome?.trim()).toBe('completed');
  expect(walked.outputOf('call')).toEqual({
    simulated: true,
    request: { workflow_id: 12, phone: '+14155550100', initial_context: { name: 'Ada' } },
  });
  expect((await run(calling({}, { without: ['completed'] }))).outcome?.trim()).toBe('default');
  expect((await run(calling({ wait_for_result: false }))).outcome?.trim()).toBe('default');
});

test('data that cannot be is refused by name', () => {
  const problems = (data: object) =>
    (findNodeType('voice_call')!.dataSchema.safeParse(data).error?.issues ?? []).map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    );
  expect(problems({ workflow_id: 1 })).toEqual([]);
  expect(problems({})[0]).toContain('workflow_id');
  expect(problems({ workflow_id: 1, timeout: 'P0D' })).toEqual([expect.stringContaining('timeout: "P0D" is zero')]);
  expect(problems({ workflow_id: 1, phone: '' })[0]).toContain('phone');
  expect(problems({ workflow_id: '{{ x }}' })[0]).toContain('workflow_id');
});
