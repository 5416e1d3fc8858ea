import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTerminal, rowStates } from '../../src/campaigns/rows/row-states.ts';
import type { AttemptOutcome } from '../../src/calls/attempt/outcomes.ts';
import { returnReasons } from '../../src/calls/contract.ts';
import type { AttemptReport, ReturnReason } from '../../src/calls/contract.ts';
import {
  allRows,
  answered,
  dialing,
  draftCampaign,
  ended,
  goTo,
  inside,
  keyOf,
  monday,
  newActionId,
  people,
  returned,
  rowOf,
  settle,
  standAt,
  standingCampaign,
} from './live-campaigns.ts';
import type { Drafted } from './live-campaigns.ts';
import { indexNames } from '../support/watch-statements.ts';

const noBreaker = { circuit_breaker: { enabled: false, failure_threshold: 0.5, window_seconds: 120, min_calls_in_window: 5 } };
const outcomes: AttemptOutcome[] = ['completed', 'busy', 'voicemail', 'failed', 'carrier_trouble', 'rate_limited', 'number_refused'];

interface Story {
  gaveBack: ReturnReason[];
  isDialled: boolean;
  isAnswered: boolean;
  outcome: AttemptOutcome | null;
}

/** The events of a row's call, in their order. */
const story: fc.Arbitrary<Story> = fc.record({
  gaveBack: fc.array(fc.constantFrom<ReturnReason>('withdrawn', 'too_soon', 'window_closed'), { maxLength: 1 }),
  isDialled: fc.boolean(),
  isAnswered: fc.boolean(),
  outcome: fc.option(fc.constantFrom(...outcomes)),
});

const reportsOf = (key: string, { gaveBack, isDialled, isAnswered, outcome }: Story): AttemptReport[] => [
  ...gaveBack.map((reason) => returned(key, reason)),
  ...(isDialled ? [dialing(key, 8)] : []),
  ...(isDialled && isAnswered ? [answered(key, 8)] : []),
  ...(isDialled && outcome ? [ended(key, outcome, { runId: 8 })] : []),
];

test('reports in any order, repetition and batches lead to the same rows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(story, { minLength: 6, maxLength: 6 }), fc.infiniteStream(fc.nat()), async (stories, picks) => {
      const rowsAfter = async (deliver: (campaign: Drafted, reports: AttemptReport[]) => Promise<void>) => {
        const campaign = await standingCampaign({ csv: people(6), configs: noBreaker });
        // The same moments for both, since they are part of the reports.
        const reports = stories
          .flatMap((one, index) => reportsOf(keyOf(campaign, index + 1), one))
          .map((report, index) => ({ ...report, at: index + 1 }));
        await deliver(campaign, reports);
        return allRows(campaign);
      };
      const straight = await rowsAfter((campaign, reports) => campaign.stub().applyReports(reports));
      const mixed = await rowsAfter(async (campaign, reports) => {
        const waiting = [...reports, ...reports.filter(() => picks.next().value! % 3 === 0)].map((report) => ({
          report,
          place: picks.next().value!,
        }));
        waiting.sort((one, other) => one.place - other.place);
        while (waiting.length > 0)
          await campaign.stub().applyReports(waiting.splice(0, 1 + (picks.next().value! % 5)).map(({ report }) => report));
      });
      expect(mixed).toEqual(straight);
    }),
    { numRuns: 12 },
  );
});

/** The tally, and its expected value. */
const tallies = (campaign: Drafted) =>
  inside(campaign.stub(), (_object, state) => {
    const { sql } = state.storage;
    const tally = sql.exec<Record<string, number>>('SELECT * FROM tally').one();
    const counted = (column: string) =>
      Object.fromEntries(
        sql
          .exec<{ name: string; count: number }>(
            `SELECT ${column} AS name, count(*) AS count FROM campaign_row WHERE ${column} IS NOT NULL GROUP BY 1`,
          )
          .toArray()
          .map(({ name, count }) => [name, count]),
      ) as Record<string, number>;
    const [states, ends] = [counted('state'), counted('outcome')];
    const attempts = sql.exec<{ n: number }>('SELECT ifnull(sum(attempts), 0) AS n FROM campaign_row').one().n;
    const expected = Object.fromEntries(
      Object.keys(tally).map((column) => [
        column,
        column === 'attempts' ? attempts : ((column.startsWith('outcome_') ? ends[column.slice(8)] : states[column]) ?? 0),
      ]),
    );
    return { tally, expected };
  });

test('an attempt that ends while its row waits for a window is counted', async () => {
  const campaign = await standingCampaign({ csv: people(4), configs: { max_concurrency: 4 } });
  const [key] = campaign.slots.keys();
  await campaign.stub().applyReports([returned(key!, 'window_closed')]);
  await campaign.stub().applyReports([ended(key!, 'busy', { at: monday })]);
  const { tally, expected } = await tallies(campaign);
  expect(expected['attempts']).toBe(1);
  expect(tally).toEqual(expected);
});

test('after any events of a campaign, its counts match its rows, they add up, and no row is lost', { tags: 'soak' }, async () => {
  const step = fc.record({
    kind: fc.constantFrom('reports', 'reports', 'reports', 'pause', 'resume', 'later', 'contact', 'archived', 'cancel', 'wake'),
    row: fc.nat(39),
    what: fc.constantFrom('dialing', 'answered', ...outcomes, ...returnReasons),
    count: fc.integer({ min: 1, max: 12 }),
    seconds: fc.constantFrom(1, 10, 130, 4000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const campaign = await standingCampaign({ csv: people(40), configs: { max_concurrency: 4 } });
      const stub = campaign.stub();
      const ignored = () => undefined;
      let now = monday;
      for (const { kind, row, what, count, seconds } of steps) {
        if (kind === 'reports') {
          const keys = campaign.slots.keys();
          const reports = Array.from({ length: count }, (_, index) => keys[(row + index) % keys.length]!).map((key) => {
            if (what === 'dialing') return dialing(key);
            if (what === 'answered') return answered(key);
            const reason = returnReasons.find((one) => one === what);
            return reason ? returned(key, reason) : ended(key, what as AttemptOutcome, { at: now });
          });
          await stub.applyReports(reports);
        } else if (kind === 'later') await goTo(campaign, (now += seconds * 1000));
        else if (kind === 'contact') await stub.removeContact(row);
        else if (kind === 'archived') await stub.pauseForArchivedAgent();
        else if (kind === 'wake') await stub.wakeStalled(campaign.organizationId, campaign.id);
        else await stub[kind](newActionId()).then(ignored, ignored);

        const { tally, expected } = await tallies(campaign);
        expect(tally).toEqual(expected);
        const live = (await stub.snapshot())!;
        expect(live.total_rows).toBe(40);
        expect(live.completed_rows + live.failed_rows + live.skipped_rows).toBe(live.processed_rows);
        expect(rowStates.reduce((sum, state) => sum + tally[state]!, 0)).toBe(40);
        if (live.state === 'completed') expect(live.processed_rows).toBe(40);
      }
      // From any state: once it is resumed and every call ends, all rows end.
      await standAt(campaign, (now += 1000));
      if ((await stub.snapshot())!.state === 'paused') await stub.resume(newActionId());
      const over = new Set<string>();
      for (let turn = 0; turn < 60; turn += 1) {
        await goTo(campaign, (now += 700_000));
        const open = campaign.slots.keys().filter((key) => !over.has(key));
        for (const key of open) over.add(key);
        const live = (await stub.snapshot())!;
        await stub.applyReports(
          open.map((key) => (live.state === 'cancelled' ? returned(key, 'withdrawn') : ended(key, 'completed', { at: now }))),
        );
        if ((await allRows(campaign)).every(({ state }) => isTerminal(state))) break;
      }
      expect((await allRows(campaign)).filter(({ state }) => !isTerminal(state))).toEqual([]);
      await goTo(campaign, now + 5000);
      const { processed_rows: _, ...counts } = (await stub.snapshot())!;
      expect(await rowOf(campaign.id)).toMatchObject({
        total_rows: 40,
        completed_rows: counts.completed_rows,
        skipped_rows: counts.skipped_rows,
        in_flight: 0,
      });
    }),
    { numRuns: 15 },
  );
});

test.each([false, true])(
  'the count of rows that wait for a window is that of the rows shown so, with contact time zones: %s',
  async (use_contact_timezone) => {
    const campaign = await standingCampaign({ csv: people(40), configs: { max_concurrency: 4 } });
    const stub = campaign.stub();
    const [first, second, third] = campaign.slots.keys();
    await stub.applyReports([ended(first!, 'busy', { at: monday }), dialing(second!), returned(third!, 'too_soon')]);
    await stub.pause(newActionId());
    await stub.applyReports(
      campaign.slots
        .keys()
        .slice(3, 6)
        .map((key) => returned(key, 'withdrawn')),
    );
    const schedule_config = {
      enabled: true,
      timezone: 'UTC',
      slots: [{ day_of_week: 3, start_time: '00:00', end_time: '24:00' }],
      use_contact_timezone,
    };
    await stub.change({ configs: { ...campaign.all, schedule_config } });
    await stub.resume(newActionId());
    await settle(campaign);
    const { rows: tally } = (await stub.progress())!;
    const { rows } = (await stub.rows({ state: undefined, limit: 100, offset: 0 }))!;
    for (const state of rowStates) expect([state, tally[state]]).toEqual([state, rows.filter((row) => row.state === state).length]);
    expect(tally.scheduled).toBeGreaterThan(10);
    expect(tally.pending).toBeGreaterThan(0);
  },
);

/** Records every statement that the object runs from now on, with its written rows. */
const watched = (campaign: Drafted) =>
  inside(campaign.stub(), (_object, state) => {
    const { sql } = state.storage;
    const seen: { query: string; cursor: SqlStorageCursor<Record<string, SqlStorageValue>> }[] = [];
    const real = sql.exec.bind(sql);
    Object.defineProperty(sql, 'exec', {
      value: (query: string, ...parameters: SqlStorageValue[]) => {
        const cursor = real(query, ...parameters);
        seen.push({ query, cursor });
        return cursor;
      },
    });
    return { seen, real };
  });

test('a row of one attempt costs a dozen written rows', async () => {
  const campaign = await draftCampaign({ csv: people(500), configs: { max_concurrency: 200 } });
  await standAt(campaign, monday);
  const { seen } = await watched(campaign);
  await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
  await settle(campaign);
  const over = new Set<string>();
  while (over.size < 500) {
    const keys = campaign.slots
      .keys()
      .filter((key) => !over.has(key))
      .slice(0, 50);
    await campaign.stub().applyReports(keys.map((key) => dialing(key)));
    await campaign.stub().applyReports(keys.map((key) => answered(key)));
    await campaign.stub().applyReports(keys.map((key) => ended(key, 'completed', { at: monday })));
    for (const key of keys) over.add(key);
    await settle(campaign);
  }
  expect(await campaign.stub().snapshot()).toMatchObject({ state: 'completed', completed_rows: 500 });
  const written = seen.reduce((sum, { cursor }) => sum + cursor.rowsWritten, 0) / 500;
  console.log(`rows written for a row with one attempt: ${written.toFixed(2)}`);
  expect(written).toBeLessThan(14);
});

test('no statement scans all rows, except the one that continues a reading', async () => {
  const campaign = await draftCampaign({
    csv: `phone,timezone\n${Array.from({ length: 60 }, (_, index) => `+1212555${1000 + index},Europe/Paris`).join('\n')}\n`,
  });
  await standAt(campaign, monday);
  const { seen, real } = await watched(campaign);
  const stub = campaign.stub();
  await stub.start(campaign.organizationId, campaign.id, newActionId());
  await settle(campaign);
  await stub.applyReports(campaign.slots.keys().map((key, index) => ended(key, outcomes[index % outcomes.length]!)));
  for (const state of [undefined, ...rowStates]) await stub.rows({ state, limit: 5, offset: 0 });
  await stub.progress();
  await stub.redialRows(['busy'], 0, 5);
  await stub.reportRows(0, 5);
  await stub.removeContact(3);
  const live = (await stub.snapshot())!;
  if (live.state === 'running') await stub.pause(newActionId());
  await stub.change({
    configs: {
      ...campaign.all,
      schedule_config: {
        enabled: true,
        timezone: 'UTC',
        slots: [{ day_of_week: 0, start_time: '00:00', end_time: '24:00' }],
        use_contact_timezone: true,
      },
    },
  });
  await stub.resume(newActionId());
  await settle(campaign);
  await stub.progress();
  // Tuesday: whoever is new waits for the next window.
  await standAt(campaign, monday + 86_400_000);
  for (const state of rowStates) await stub.rows({ state, limit: 5, offset: 0 });
  await stub.progress();
  await stub.cancel(newActionId());
  await settle(campaign);
  const plans = await inside(stub, () =>
    [...new Set(seen.map(({ query }) => query))]
      .filter((query) => query.includes('campaign_row') && !/^(CREATE|DROP)/.test(query))
      .flatMap((query) => {
        const parameters = Array.from({ length: query.split('?').length - 1 }, () => 1);
        return real(`EXPLAIN QUERY PLAN ${query}`, ...parameters)
          .toArray()
          .map(({ detail }) => `${String(detail)} < ${query.replaceAll(/\s+/g, ' ')}`);
      }),
  );
  expect(plans.length).toBeGreaterThan(20);
  const scans = plans.filter((plan) => /^SCAN (campaign_row|r)\b/.test(plan) || /USE TEMP B-TREE/.test(plan));
  // In the order of the table and up to a limit, nothing is gone through in vain.
  const inVain = scans
    .map((plan) => plan.split(' < ')[1]!)
    .filter((query) => !/FROM campaign_row ORDER BY number (DESC )?LIMIT/.test(query));
  expect(inVain).toEqual(["SELECT phone, number FROM campaign_row WHERE state <> 'failed'"]);

  // An index without a query is written for nothing.
  const indexes = await inside(stub, (_object, { storage }) => indexNames(storage));
  const userOf = (index: string) => plans.find((plan) => new RegExp(`INDEX ${index}\\b`).test(plan))?.replace(/^.* WHERE /, '') ?? null;
  expect(Object.fromEntries(indexes.map((index) => [index, userOf(index)]))).toEqual({
    campaign_row_contact: 'r.contact_id = ?',
    campaign_row_due: 'due IS NOT NULL AND due <= ? ORDER BY due, number LIMIT ? OFFSET ?',
    campaign_row_lane: expect.stringMatching(/^number > \? AND lane = \d+ AND lane > 0 AND /),
    campaign_row_lane_due: 'lane = ? AND due IS NOT NULL LIMIT 1',
    campaign_row_state: expect.stringMatching(/^state IN \(.*\) AND state = '\w+' ORDER BY number/),
  });
});
