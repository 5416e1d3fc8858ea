import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultConfigs } from '../../src/campaigns/configs/configs.ts';
import { isTerminal, canTransition } from '../../src/campaigns/rows/row-states.ts';
import { applyReport } from '../../src/campaigns/rows/apply-report.ts';
import type { EndReason, ReportRules, RowProgress } from '../../src/campaigns/rows/apply-report.ts';
import { maxRequestedCalls, rowAttemptKey, parseRowAttemptKey } from '../../src/campaigns/rows/attempt-keys.ts';
import type { AttemptOutcome } from '../../src/calls/attempt/outcomes.ts';
import { returnReasons } from '../../src/calls/contract.ts';
import type { AttemptReport, ReturnReason } from '../../src/calls/contract.ts';

const now = 1_000_000;
const { retry_config } = defaultConfigs({ timezone: 'UTC', plan: { concurrentCallLimit: 10 } });
const key = 'campaign:1:1:1';

const asked: RowProgress = {
  state: 'pending',
  outcome: null,
  reason: null,
  attempts: 0,
  carrierTroubleCount: 0,
  consecutiveRateLimits: 0,
  lastUnreachedOutcome: null,
  dueAt: null,
  notBefore: null,
  attempt: 1,
  runIds: [],
  lastReportAt: 0,
};
const rules = (more: Partial<ReportRules> = {}): ReportRules => ({
  retry: { retry: retry_config, windowAt: (moment) => ({ opensAt: moment, closesAt: null }) },
  now,
  random: () => 0,
  isRunning: true,
  ending: null,
  ...more,
});
const dialing = (at: number, runId = 7): AttemptReport => ({ kind: 'dialing', key, at, runId });
const answered = (at: number, runId = 7): AttemptReport => ({ kind: 'answered', key, at, runId });
const returned = (at: number, reason: ReturnReason, until: number | null = null, isSpent = false): AttemptReport => ({
  kind: 'returned',
  key,
  at,
  reason,
  detail: `for ${reason}`,
  until,
  isSpent,
});
const ended = (at: number, outcome: AttemptOutcome, detail: string | null = null, runId = 7): AttemptReport => ({
  kind: 'ended',
  key,
  at,
  runId,
  outcome,
  detail,
  retryAfterSeconds: null,
});

/** Applies reports as the object does: reports of an earlier attempt, and of a row that has ended, are ignored. */
function take(row: RowProgress, reports: AttemptReport[], by = rules()): RowProgress {
  let current = row;
  for (const report of reports) {
    if (isTerminal(current.state) || current.attempt !== row.attempt) continue;
    current = applyReport(current, report, by)?.row ?? current;
  }
  return current;
}

describe('a row follows its call', () => {
  test('from the carrier to the end, with the run that it became', () => {
    expect(take(asked, [dialing(1, 0)])).toMatchObject({ state: 'dialing', runIds: [] });
    expect(take(asked, [dialing(1, 0), answered(2)])).toMatchObject({ state: 'in_call', runIds: [7] });
    expect(take(asked, [dialing(1), answered(2), ended(3, 'completed')])).toMatchObject({
      state: 'completed',
      outcome: 'completed',
      reason: null,
      attempts: 1,
      runIds: [7],
    });
  });

  test('into a retry under the next key, in a calling window', () => {
    const window = { opensAt: now + 5_000_000, closesAt: null };
    const busy = take(asked, [dialing(1), ended(2, 'busy')], rules({ retry: { retry: retry_config, windowAt: () => window } }));
    expect(busy).toMatchObject({ state: 'scheduled', dueAt: window.opensAt, attempts: 1, attempt: 2, outcome: null, runIds: [7] });
    expect(busy.reason).toBe('busy: attempt 2 of 3 follows');
  });

  test('and runs stay in the order of the attempts, also where one is not known', () => {
    const second = { ...take(asked, [ended(2, 'busy', null, 0)]), dueAt: null, state: 'pending' as const };
    expect(take(second, [dialing(5, 9)]).runIds).toEqual([0, 9]);
  });
});

describe('a call that was given back', () => {
  test('waits for the moment that the slots name, in a window', () => {
    expect(take(asked, [returned(1, 'window_closed', now + 9000)])).toMatchObject({ state: 'scheduled', dueAt: now + 9000, attempt: 1 });
    expect(take(asked, [returned(1, 'too_soon')])).toMatchObject({
      state: 'scheduled',
      dueAt: now + 60_000,
      reason: 'too_soon: for too_soon',
    });
    // Never at once: two clocks may not agree on when a window closes.
    expect(take(asked, [returned(1, 'window_closed')]).dueAt).toBeGreaterThan(now);
    const never = { never: { reason: 'no_calling_window' as const, detail: 'none' } };
    expect(take(asked, [returned(1, 'window_closed')], rules({ retry: { retry: retry_config, windowAt: () => never } }))).toMatchObject({
      state: 'failed',
      reason: 'no_calling_window: none',
    });
  });

  test('waits for the moment at which the contact policy allows it, and is skipped if there is none', () => {
    expect(take(asked, [returned(1, 'contact_policy', now + 9000)])).toMatchObject({ state: 'scheduled', dueAt: now + 9000 });
    expect(take(asked, [returned(1, 'contact_policy')])).toMatchObject({ state: 'skipped', reason: 'contact_policy: for contact_policy' });
  });

  test('fails if no numbering plan knows the number, and is not requested again', () => {
    expect(take(asked, [returned(1, 'number_unassignable')])).toMatchObject({
      state: 'failed',
      reason: 'number_unassignable: for number_unassignable',
    });
  });

  test('ends if the person must not be called', () => {
    expect(take(asked, [returned(1, 'suppressed')])).toMatchObject({ state: 'skipped', reason: 'suppressed: for suppressed' });
    expect(take(asked, [returned(1, 'contact_deleted')])).toMatchObject({
      state: 'skipped',
      reason: 'contact_deleted: for contact_deleted',
    });
  });

  test('waits with its campaign until a person removes the cause', () => {
    for (const reason of ['agent_archived', 'telephony_not_configured'] as const) {
      const after = applyReport(asked, returned(1, reason), rules())!;
      expect(after.row).toMatchObject({ state: 'pending', dueAt: 0, attempt: 1 });
      expect(after.pause).toEqual({ stateReason: reason, message: `for ${reason}` });
    }
  });

  test('has no run, and keeps its key', () => {
    const back = take(asked, [dialing(1), returned(2, 'withdrawn')], rules({ isRunning: false }));
    expect(back).toMatchObject({ state: 'pending', dueAt: 0, runIds: [], attempt: 1, attempts: 0 });
    // A running campaign does not request it again at once, since it may be withdrawn again.
    expect(take(asked, [returned(2, 'withdrawn')])).toMatchObject({ state: 'scheduled', dueAt: now + 1000, attempt: 1 });
  });

  test('is ignored once the attempt was dialled after all', () => {
    expect(take(asked, [returned(1, 'too_soon'), dialing(2), returned(1, 'too_soon')])).toMatchObject({ state: 'dialing', runIds: [7] });
    expect(take(asked, [returned(5, 'too_soon'), dialing(2)])).toMatchObject({ state: 'scheduled', runIds: [] });
  });

  test('is not made again if it was answered', () => {
    expect(take(asked, [answered(1), returned(2, 'withdrawn')])).toMatchObject({ state: 'failed', outcome: 'failed', runIds: [7] });
  });
});

describe('a call that was given back with its key spent', () => {
  test('is requested under the next key, and uses up no attempt', () => {
    for (const reason of ['withdrawn', 'too_soon', 'window_closed', 'agent_archived'] as const)
      expect(take(asked, [dialing(9), returned(2, reason, null, true)])).toMatchObject({
        attempt: 2,
        attempts: 0,
        carrierTroubleCount: 0,
        lastReportAt: 0,
        runIds: [],
      });
  });
});

describe('the carrier refuses us', () => {
  test('and the row waits, undialled, with the sentence that the campaign pauses with', () => {
    const after = applyReport(take(asked, [dialing(1)]), ended(2, 'account_refused', 'Authentication Error (20003)'), rules())!;
    expect(after.row).toMatchObject({ state: 'pending', dueAt: 0, attempts: 0, attempt: 2, outcome: null });
    expect(after.pause?.stateReason).toBe('account_refused: Authentication Error (20003)');
    expect(after.ended).toMatchObject({ isFailure: true });
  });

  test('a rate limit is no call', () => {
    const after = applyReport(asked, ended(2, 'rate_limited'), rules())!;
    expect(after).toMatchObject({ ended: null, pause: null, row: { state: 'scheduled', attempts: 0 } });
  });
});

describe('a row that is not called again', () => {
  const ending: EndReason = { word: 'cancelled', because: 'the campaign was cancelled' };

  test('ends by the outcome of its live call', () => {
    expect(take(asked, [dialing(1), ended(2, 'completed')], rules({ ending }))).toMatchObject({ state: 'completed', outcome: 'completed' });
    expect(take(asked, [dialing(1), ended(2, 'no_answer')], rules({ ending }))).toMatchObject({
      state: 'failed',
      outcome: 'no_answer',
      reason: 'no_answer: not called again, because the campaign was cancelled',
      dueAt: null,
    });
    expect(take(asked, [dialing(1), ended(2, 'account_refused')], rules({ ending }))).toMatchObject({ state: 'failed', outcome: 'failed' });
  });

  test('is skipped if its call had not begun', () => {
    for (const reason of ['withdrawn', 'window_closed', 'too_soon', 'agent_archived'] as const)
      expect(take(asked, [returned(1, reason)], rules({ ending }))).toMatchObject({
        state: 'skipped',
        reason: 'cancelled: the campaign was cancelled',
        dueAt: null,
      });
  });
});

const outcomes: AttemptOutcome[] = [
  'completed',
  'busy',
  'no_answer',
  'voicemail',
  'failed',
  'cancelled',
  'carrier_trouble',
  'rate_limited',
  'number_refused',
  'number_blocked',
  'account_refused',
];

const finalReasons = new Set<string>(['suppressed', 'contact_deleted', 'number_unassignable']);

/** The possible events of one attempt, in their order. */
const story = fc
  .record({
    isWaiting: fc.boolean(),
    gaveBack: fc.array(fc.constantFrom(...returnReasons.filter((reason) => !finalReasons.has(reason))), {
      maxLength: 2,
    }),
    isDialled: fc.boolean(),
    isAnswered: fc.boolean(),
    outcome: fc.option(fc.constantFrom(...outcomes)),
  })
  .map(({ isWaiting, gaveBack, isDialled, isAnswered, outcome }) => {
    let at = 1;
    const reports: AttemptReport[] = gaveBack.map((reason) => returned(at++, reason, reason === 'contact_policy' ? now + 9000 : null));
    // Reports of waiting have no effect after any other report.
    if (isWaiting && (isDialled || gaveBack.length)) reports.unshift({ kind: 'waiting', key, at: 0, reason: 'in another call' });
    if (!isDialled) return reports;
    reports.push(dialing(at++));
    if (isAnswered) reports.push(answered(at++));
    if (outcome) reports.push(ended(at++, isAnswered ? 'completed' : outcome));
    return reports;
  });

test('reports in any order, with any repetitions, lead to the same row', () => {
  const shuffled = story.chain((reports) =>
    fc.record({
      reports: fc.constant(reports),
      order: fc.array(fc.nat({ max: Math.max(0, reports.length - 1) }), { maxLength: 12 }).chain((repeated) =>
        fc.shuffledSubarray([...reports.keys(), ...(reports.length ? repeated : [])], {
          minLength: reports.length + (reports.length ? repeated.length : 0),
        }),
      ),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ reports, order }) => {
      const straight = take(asked, reports);
      expect(
        take(
          asked,
          order.map((index) => reports[index]!),
        ),
      ).toEqual(straight);
    }),
    { numRuns: 2000 },
  );
});

test('no report causes a transition that is not allowed', () => {
  fc.assert(
    fc.property(fc.array(story, { maxLength: 3 }), fc.infiniteStream(fc.nat()), (stories, picks) => {
      const reports = stories.flat();
      let row = asked;
      for (let count = 0; count < reports.length; count += 1) {
        const report = reports[picks.next().value! % reports.length]!;
        if (isTerminal(row.state)) return;
        const next = applyReport(row, report, rules())?.row ?? row;
        const isOneMove = next.state === row.state || canTransition(row.state, next.state);
        // A report of an answer may overtake the report of dialling; a report of an end may overtake both.
        const isTwoMoves = canTransition('dialing', next.state) && canTransition(row.state, 'dialing');
        expect(isOneMove || isTwoMoves, `${row.state} to ${next.state}`).toBe(true);
        row = next.state === 'scheduled' || next.state === 'pending' ? { ...next, dueAt: null } : next;
      }
    }),
    { numRuns: 1000 },
  );
});

test('a key names one row and one attempt of one campaign', () => {
  expect(rowAttemptKey(12, 3, 2)).toBe('campaign:12:3:2');
  expect(parseRowAttemptKey(12, 'campaign:12:3:2')).toEqual({ rowNumber: 3, attempt: 2 });
  for (const other of ['campaign:13:3:2', 'single:12:3:2', 'campaign:12:3', 'campaign:12:3:2:1', 'campaign:12:x:2', ''])
    expect(parseRowAttemptKey(12, other)).toBeNull();
});

test('twice the live calls are requested, and never more than 1,200', () => {
  expect([1, 100, 1000].map(maxRequestedCalls)).toEqual([22, 220, 1200]);
});
