import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RowOutcome } from '../../src/calls/attempt/outcomes.ts';
import type { Context } from '../../src/context.ts';
import { completeUnansweredRuns } from '../../src/calls/placing/store.ts';
import { readCallStatistics } from '../../src/statistics/call-statistics.ts';
import { counterTableNames } from '../../src/statistics/counter-tables.ts';
import { dayMs, toDay } from '../../src/statistics/periods.ts';
import { rebuildStep } from '../../src/statistics/rebuild.ts';
import type { RebuildPlace } from '../../src/statistics/rebuild-store.ts';
import { readUsage } from '../../src/statistics/usage-statistics.ts';
import { ownRows } from '../support/own-rows.ts';
import { settle, withAgent } from '../voice-agents/runs.ts';
import { beginCall, completionOf, type CountedCall } from './counted-calls.ts';
import { foldCounters } from './fold-counters.ts';

const keptDays = 60;
const some = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);

const call = fc.record({
  hoursAgo: fc.integer({ min: 0, max: 90 * 24 }),
  campaignId: some(null, 5, 6),
  journeyId: some(null, 8),
  ownNumber: some('+15005550006', '+15005550007', null),
  direction: some('inbound' as const, 'outbound' as const),
  isChat: some(false, false, false, true),
  outcome: some<RowOutcome>('completed', 'completed', 'busy', 'no_answer', 'voicemail', 'failed', 'cancelled'),
  disposition: some(null, 'interested', 'callback'),
  talkSeconds: some(5, 60),
  costUsd: some(0.01, 0.000_001, null),
  knowledge: some({ questions: 2, unanswered: 1 }, { questions: 0, unanswered: 0 }),
  transfers: fc.array(fc.record({ request: some(1, 2, 3), isFallback: fc.boolean(), seconds: some(null, 0, 30) }), { maxLength: 3 }),
});

const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: some('settle' as const), call: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: some('settle unanswered' as const), call: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: some('correct' as const), call: fc.nat(), disposition: some(null, 'interested', 'wrong_number') }),
  },
  { weight: 1, arbitrary: fc.record({ do: some('delete with age' as const, 'fold' as const, 'rebuild' as const) }) },
);

interface Modelled extends CountedCall {
  id: number;
  createdAt: number;
  isSettled: boolean;
  isDeleted: boolean;
}

async function rebuildAll(context: Context, now: number): Promise<void> {
  for (let place: RebuildPlace | null = {}; place; place = await rebuildStep(context, place, now));
}

/** What a full count of the calls finds, by day and all that is counted by. */
function countFully(calls: readonly Modelled[], agentId: number, timezone: string): Record<string, number[]> {
  const counts: Record<string, number[]> = {};
  for (const one of calls.filter(({ isSettled, isChat }) => isSettled && !isChat)) {
    const day = new Date(toDay(timezone, one.createdAt)).toISOString().slice(0, 10);
    const { campaignId, journeyId, ownNumber, direction, outcome, disposition } = one;
    const key = [day, agentId, campaignId, journeyId, ownNumber, direction, outcome, disposition].map((part) => part ?? null);
    const before = (counts[JSON.stringify(key)] ??= [0, 0, 0, 0, 0, 0, 0]);
    const taken = one.transfers!.filter(({ seconds }) => seconds !== null);
    const added = [
      1,
      one.talkSeconds ?? 0,
      Math.round((one.costUsd ?? 0) * 1_000_000),
      one.costUsd === null ? 1 : 0,
      new Set(one.transfers!.map(({ request }) => request)).size,
      taken.length,
      taken.reduce((sum, { seconds }) => sum + seconds!, 0),
    ];
    counts[JSON.stringify(key)] = before.map((value, place) => value + added[place]!);
  }
  return counts;
}

async function readCounts(context: Context, timezone: string): Promise<Record<string, number[]>> {
  const { groups } = await readCallStatistics(context, {
    from: new Date(Date.now() - 100 * dayMs).toISOString(),
    timezone,
    group_by: ['day', 'workflow_id', 'campaign_id', 'automation_workflow_id', 'own_number', 'direction', 'outcome', 'disposition'],
    filter: {},
  });
  const entries = groups.map((group): [string, number[]] => {
    const { period, workflow_id, campaign_id, automation_workflow_id, own_number, direction, outcome, disposition } = group;
    const key = [period, workflow_id, campaign_id, automation_workflow_id, own_number, direction, outcome, disposition];
    const { calls, talk_seconds, cost_usd, calls_without_price, transfers, transfers_taken, transfer_seconds } = group;
    const values = [
      calls,
      talk_seconds,
      Math.round(cost_usd * 1_000_000),
      calls_without_price,
      transfers,
      transfers_taken,
      transfer_seconds,
    ];
    return [JSON.stringify(key), values];
  });
  return Object.fromEntries(entries);
}

test('statistics of calls equal a full count after any settlements, repeats, corrections, deletions with age, folds and rebuilds', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 1, maxLength: 12 }),
      fc.array(action, { maxLength: 25 }),
      some('UTC', 'Asia/Kolkata', 'America/New_York', 'Asia/Kathmandu'),
      async (drawn, actions, timezone) => {
        const { agent, ...organization } = await withAgent({ timezone });
        const now = Date.now();
        const settings = { ...organization.context.settings, CALL_RETENTION_DAYS: keptDays };
        const context = { ...organization.context, settings };
        const calls: Modelled[] = [];
        for (const { hoursAgo, ...one } of drawn) {
          const createdAt = now - hoursAgo * 3_600_000;
          const talkSeconds = one.outcome === 'completed' ? one.talkSeconds : null;
          const given = { ...one, createdAt, talkSeconds };
          calls.push({ ...given, id: await beginCall(context, agent, given), isSettled: false, isDeleted: false });
        }
        for (const step of actions) {
          const one = 'call' in step ? calls[step.call % calls.length]! : null;
          if (step.do === 'settle') {
            await settle(context, completionOf(one!.id, one!));
            if (!one!.isDeleted) one!.isSettled = true;
          } else if (step.do === 'settle unanswered') {
            const key = await ownRows.prepare('SELECT attempt_key FROM voice_agent_run WHERE id = ?').bind(one!.id).first('attempt_key');
            const end = { ...completionOf(one!.id, { outcome: 'busy', costUsd: 0 }), attempt_key: key, own_number: '+15005550009' };
            const row = { ...end, result: JSON.stringify(end.result), completed_at: now, started_at: null };
            await context.database.batch(
              completeUnansweredRuns(context.database, context.organization.id, JSON.stringify([row])),
              'idempotent',
            );
            if (!one!.isSettled && !one!.isDeleted)
              Object.assign(one!, {
                isSettled: true,
                outcome: 'busy',
                disposition: null,
                talkSeconds: null,
                costUsd: 0,
                transfers: [],
                ownNumber: '+15005550009',
              });
          } else if (step.do === 'correct') {
            if (!one!.isSettled || one!.isDeleted) continue;
            await ownRows.prepare('UPDATE voice_agent_run SET disposition = ? WHERE id = ?').bind(step.disposition, one!.id).run();
            one!.disposition = step.disposition;
          } else if (step.do === 'delete with age') {
            for (const old of calls.filter(({ createdAt, isSettled }) => isSettled && createdAt < now - keptDays * dayMs)) {
              await ownRows.prepare('DELETE FROM voice_agent_run WHERE id = ?').bind(old.id).run();
              old.isDeleted = true;
            }
          } else if (step.do === 'fold') for (const table of counterTableNames) await foldCounters(table, context.organization.id, now);
          else await rebuildAll(context, now);
        }
        expect(await readCounts(context, timezone)).toEqual(countFully(calls, agent.id, timezone));
        const { totals } = await readUsage(context, { from: new Date(now - 100 * dayMs).toISOString(), timezone });
        const settled = calls.filter(({ isSettled }) => isSettled);
        expect(totals).toMatchObject({
          calls: settled.filter(({ isChat }) => !isChat).length,
          chats: settled.filter(({ isChat }) => isChat).length,
          prompt_tokens: settled.length * 10,
          completion_tokens: settled.length * 5,
        });
      },
    ),
    { numRuns: 25 },
  );
}, 120_000);
