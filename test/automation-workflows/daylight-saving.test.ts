import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Effects } from '../../src/automation-workflows/nodes/contract.ts';
import { waitNode } from '../../src/automation-workflows/nodes/types/wait.ts';
import { resolveDueFire, nextFireAt, onTimeToleranceMs } from '../../src/expressions/cron-schedule.ts';
import { buildScope } from '../../src/expressions/templates/scope.ts';
import { momentsNearChanges, stretch, type Moment } from '../library/clock-changes.ts';
import { firstReached, shownMinute } from '../library/zone-clocks.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const minutesOfDay = 24 * 60;
const iso = (epochMs: number | null) => (epochMs === null ? null : new Date(epochMs).toISOString());
const timeText = (minutes: number) => new Date(minutes * minute).toISOString().slice(11, 16);
const dateOf = (shown: number) => Math.floor(shown / minutesOfDay);
/** 0 = Monday; the first of January 1970 was a Thursday. */
const weekdayOf = (shown: number) => (dateOf(shown) + 3) % 7;

/** The end of a wait that begins at `at`, from the run's history; also of an end in the past. */
async function endOfWait(data: object, { zone, at }: Moment): Promise<number> {
  const organization = { default_country: 'US', timezone: zone };
  const result = await waitNode.run({
    node: { id: 'w', type: 'wait', data: data as Record<string, unknown> },
    data: waitNode.dataSchema.parse(data),
    scope: buildScope({ contact: null, organization, now: new Date(at).toISOString() }),
    now: at,
    enteredAt: at,
    key: '7:w:1:1',
    mayHaveHappened: false,
    unaskedTries: 0,
    quietHoursStart: null,
    call: { item: 'w:1:1', until: null },
    dryRun: false,
    effects: {} as Effects,
    organization,
  });
  const { until } = (result as { output: { until: string } }).output;
  if (result.kind === 'wait') expect(iso(result.until)).toBe(until);
  return Date.parse(until);
}

/**
 * The law of every local time: the first instant at which the clock shows the time or, when the clock skips it, the first minute after the
 * gap.
 */
function expectFirstShowing(zone: string, instant: number, wantedMs: number): void {
  const wanted = Math.floor(wantedMs / minute);
  const shown = shownMinute(zone, instant);
  if (shown === wanted) expect(instant % minute).toBe(wantedMs % minute);
  else {
    expect(shown, iso(instant)!).toBeGreaterThan(wanted);
    expect(instant % minute).toBe(0);
  }
  for (let back = 1; back <= 4 * 60; back++)
    expect(shownMinute(zone, Math.floor(instant / minute) * minute - back * minute)).toBeLessThan(wanted);
}

const minutesOfAnyDay = fc.oneof(fc.nat({ max: minutesOfDay - 1 }), fc.nat({ max: 4 * 60 }));
const weekdays = fc.uniqueArray(fc.nat({ max: 6 }), { minLength: 1, maxLength: 7 });

// Waits

test('a wait of calendar days ends when the wall clock shows the same time that many days on, or just after a gap, never before it began', async () => {
  const onto = fc.record({
    change: momentsNearChanges(2 * hour),
    days: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 366 })),
  });
  await fc.assert(
    fc.asyncProperty(onto, fc.boolean(), async ({ change: { zone, at }, days }, endsAtChange) => {
      const moment = { zone, at: endsAtChange ? at - days * day : at };
      const end = await endOfWait({ calendar_days: days }, moment);
      expect(end).toBeGreaterThan(moment.at);
      expectFirstShowing(zone, end, shownMinute(zone, moment.at) * minute + (moment.at % minute) + days * day);
    }),
    { numRuns: 300 },
  );
});

test('a wait for a time of day ends the next time that a clock on the wall reaches or passes it on one of the days', async () => {
  await fc.assert(
    fc.asyncProperty(momentsNearChanges(), minutesOfAnyDay, fc.option(weekdays), async (moment, minutes, days) => {
      const { zone, at } = moment;
      const isDue = (shown: number) => shown % minutesOfDay === minutes && (days ?? [weekdayOf(shown)]).includes(weekdayOf(shown));
      const end = await endOfWait({ time_of_day: timeText(minutes), ...(days ? { days } : {}) }, moment);
      expect(end).toBeGreaterThan(at);
      expect(iso(end)).toBe(iso(firstReached(stretch(zone, at, at + 9 * day), isDue).find((instant) => instant > at)!));
    }),
    { numRuns: 250 },
  );
});

test('a duration is exact in every zone, whatever the clocks do meanwhile', async () => {
  const parts = fc.record({
    days: fc.nat({ max: 400 }),
    hours: fc.nat({ max: 30 }),
    minutes: fc.nat({ max: 90 }),
    seconds: fc.nat({ max: 90 }),
  });
  await fc.assert(
    fc.asyncProperty(momentsNearChanges(), parts, async (moment, { days, hours, minutes, seconds }) => {
      const end = await endOfWait({ duration: `P${days}DT${hours}H${minutes}M${seconds}S` }, moment);
      expect(end - moment.at).toBe(days * day + hours * hour + minutes * minute + seconds * 1000);
    }),
  );
});

test('a timestamp without offset is the first moment at which the wall clock shows it, or just after the gap that skips it', async () => {
  await fc.assert(
    fc.asyncProperty(
      momentsNearChanges(),
      fc.integer({ min: -26 * 60, max: 26 * 60 }),
      fc.nat({ max: 59 }),
      async (moment, apart, seconds) => {
        const wanted = (shownMinute(moment.zone, moment.at) + apart) * minute + seconds * 1000;
        const text = new Date(wanted).toISOString().slice(0, 19);
        expectFirstShowing(moment.zone, await endOfWait({ until: text, past_due: 'continue' }, moment), wanted);
      },
    ),
    { numRuns: 300 },
  );
});

// Cron

interface Field {
  text: string;
  has(value: number): boolean;
}
const all: Field = { text: '*', has: () => true };
const fieldOf = (first: number, last: number, longest: number): fc.Arbitrary<Field> =>
  fc
    .uniqueArray(fc.integer({ min: first, max: last }), { minLength: 1, maxLength: longest })
    .map((values) => ({ text: values.join(','), has: (value) => values.includes(value) }));
const everyNth = (size: number): fc.Arbitrary<Field> =>
  fc.integer({ min: 2, max: size - 1 }).map((step) => ({ text: `*/${step}`, has: (value) => value % step === 0 }));

interface Line {
  cron: string;
  isDue(shown: number): boolean;
}
/** Days of the month and of the week are not mixed, since cron takes either then. */
const cronLine: fc.Arbitrary<Line> = fc
  .record({
    minutes: fc.oneof(fieldOf(0, 59, 3), everyNth(60)),
    hours: fc.oneof(fieldOf(0, 3, 3), fieldOf(0, 23, 4), everyNth(24), fc.constant(all)),
    days: fc.oneof(
      fc.constant({ of: 'week', field: all }),
      fieldOf(0, 6, 4).map((field) => ({ of: 'week', field })),
      fieldOf(1, 31, 12).map((field) => ({ of: 'month', field })),
    ),
  })
  .map(({ minutes, hours, days: { of, field } }) => ({
    cron: `${minutes.text} ${hours.text} ${of === 'month' ? field.text : '*'} * ${of === 'week' ? field.text : '*'}`,
    isDue: (shown) =>
      minutes.has(shown % 60) &&
      hours.has(Math.floor(shown / 60) % 24) &&
      field.has(of === 'month' ? new Date(shown * minute).getUTCDate() : (weekdayOf(shown) + 1) % 7),
  }));

function firesBetween(cron: string, zone: string, after: number, until: number): number[] {
  const fires: number[] = [];
  for (let at = nextFireAt(cron, zone, after); at !== null && at < until; at = nextFireAt(cron, zone, at)) fires.push(at);
  return fires;
}

test('around every change of the clock of 25 years, cron fires once for each scheduled local time, at its first showing or just after the gap', () => {
  fc.assert(
    fc.property(cronLine, momentsNearChanges(), ({ cron, isDue }, { zone, at }) => {
      const until = Math.floor(at / minute) * minute + 3 * day;
      const expected = firstReached(stretch(zone, at, until), isDue).filter((instant) => instant > at);
      expect(firesBetween(cron, zone, at, until).map(iso)).toEqual(expected.map(iso));
    }),
    { numRuns: 150 },
  );
});

test('following nextFireAt goes strictly forward and never to two moments that show the same local time', () => {
  fc.assert(
    fc.property(cronLine, momentsNearChanges(), ({ cron }, { zone, at }) => {
      const fires = firesBetween(cron, zone, at - day, at + 2 * day);
      for (const [index, fire] of fires.entries()) expect(fire).toBeGreaterThan(fires[index - 1] ?? at - day);
      expect(new Set(fires.map((fire) => shownMinute(zone, fire))).size).toBe(fires.length);
    }),
    { numRuns: 150 },
  );
});

test('however late the ticks come, each sees the last minute that was due, none is fired twice, and the next is the first after the tick', () => {
  const soon = fc.integer({ min: -90, max: 90 }).map((minutes) => minutes * minute);
  const ticks = fc.array(fc.oneof(soon, fc.integer({ min: -day, max: 3 * day })), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(
      cronLine,
      momentsNearChanges(2 * hour),
      ticks,
      fc.constantFrom('once', 'skip'),
      ({ cron }, { zone, at }, offsets, catch_up) => {
        const fires = firesBetween(cron, zone, at - day, at + 4 * day);
        let [due, previous] = [fires[0], -Infinity];
        for (const now of offsets.map((offset) => at + offset).toSorted((one, other) => one - other)) {
          if (due === undefined || due > now) continue;
          const last = fires.findLast((fire) => fire <= now)!;
          const isFired = catch_up === 'once' || now - last <= onTimeToleranceMs;
          const seen = resolveDueFire({ cron, timezone: zone, catch_up }, due, now);
          expect(iso(seen.fireAt)).toBe(isFired ? iso(last) : null);
          expect(last).toBeGreaterThan(previous);
          [due, previous] = [fires.find((fire) => fire > now), last];
          expect(iso(seen.nextFireAt)).toBe(iso(due ?? nextFireAt(cron, zone, now)));
        }
      },
    ),
    { numRuns: 250 },
  );
});

test('with a tick every minute both rules fire for every scheduled minute', () => {
  fc.assert(
    fc.property(cronLine, momentsNearChanges(3 * hour), fc.constantFrom('once', 'skip'), ({ cron }, { zone, at }, catch_up) => {
      const until = at + 12 * hour;
      const fired: number[] = [];
      let due = nextFireAt(cron, zone, at);
      for (let tick = Math.ceil(at / minute) * minute + 20_000; tick < until; tick += minute) {
        if (due === null || due > tick) continue;
        const { fireAt, nextFireAt: next } = resolveDueFire({ cron, timezone: zone, catch_up }, due, tick);
        if (fireAt !== null) fired.push(fireAt);
        due = next;
      }
      expect(fired.map(iso)).toEqual(firesBetween(cron, zone, at, fired.at(-1) === undefined ? at : fired.at(-1)! + 1).map(iso));
      expect(due === null || due > until - minute - 40_000).toBe(true);
    }),
    { numRuns: 150 },
  );
});
