import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CallRecord } from '../../src/calls/listing/schemas.ts';
import { toRowResult } from '../../src/campaigns/rows/row-result.ts';
import { callRecord } from './call-records.ts';

const resultOf = (...calls: CallRecord[]) => toRowResult(calls.map((call, index) => ({ attempt: index + 1, call })));

test('a row without calls has no result', () => {
  expect(resultOf()).toEqual({
    disposition: null,
    answered_by: null,
    summary: null,
    sentiment: null,
    extracted_variables: {},
    talk_seconds: 0,
    transferred_to: null,
    transfer_mode: null,
    transfer_is_fallback: null,
    transfer_state: null,
    transfer_answered_at: null,
    transfer_seconds: null,
    transfer_reason: null,
    cost_usd: 0,
    started_at: null,
    ended_at: null,
    run_url: null,
    transcript_url: null,
    recording_url: null,
  });
});

test('the human of a row is the one to whom the last of its calls was handed', () => {
  const desk = { transferred_to: '+12124560100', transfer_mode: 'cold', transfer_is_fallback: false } as const;
  const taken = { ...desk, transfer_state: 'completed', transfer_answered_at: '2026-11-20T10:14:31.000Z', transfer_seconds: 12 } as const;
  const refused = { ...desk, transferred_to: 'sip:desk@example.com', transfer_state: 'failed', transfer_reason: 'busy' } as const;
  expect(resultOf(callRecord(refused), callRecord(taken), callRecord({ outcome: 'busy' }))).toMatchObject({
    ...taken,
    transfer_reason: null,
  });
  expect(resultOf(callRecord(taken), callRecord(refused))).toMatchObject({
    ...refused,
    transfer_answered_at: null,
    transfer_seconds: null,
  });
});

test('of what several calls say, the last counts; a later call that says nothing takes nothing away', () => {
  const result = resultOf(
    callRecord({ disposition: 'callback', summary: 'Later', sentiment: 'neutral', extracted_variables: { day: 'Monday', hour: 9 } }),
    callRecord({ disposition: 'interested', summary: 'Yes', sentiment: 'positive', extracted_variables: { day: 'Friday' } }),
    callRecord({ outcome: 'voicemail', answered_by: 'machine' }),
  );
  expect(result).toMatchObject({
    disposition: 'interested',
    summary: 'Yes',
    sentiment: 'positive',
    answered_by: 'machine',
    extracted_variables: { day: 'Friday', hour: 9 },
  });
});

test('a row whose call is live has not ended, and its cost so far is that of the calls before', () => {
  const live = callRecord({ status: 'live', outcome: null, talk_seconds: null, cost_usd: null, ended_at: null });
  expect(resultOf(callRecord({ cost_usd: 0.25, talk_seconds: 4 }), live)).toMatchObject({
    ended_at: null,
    cost_usd: 0.25,
    talk_seconds: 4,
  });
});

test('seconds and costs are those of all ended calls together; an unknown cost makes the sum unknown', () => {
  const call = fc.record({
    talk_seconds: fc.nat(3600),
    cost_usd: fc.option(fc.nat(1_000_000).map((millionths) => millionths / 1_000_000)),
  });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 12 }), (calls) => {
      const result = resultOf(...calls.map(callRecord));
      expect(result.talk_seconds).toBe(calls.reduce((sum, one) => sum + one.talk_seconds, 0));
      if (calls.some((one) => one.cost_usd === null)) expect(result.cost_usd).toBeNull();
      else
        expect(result.cost_usd).toBeCloseTo(
          calls.reduce((sum, one) => sum + one.cost_usd!, 0),
          6,
        );
    }),
  );
});
