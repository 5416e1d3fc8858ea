import fc from 'fast-check';
import { type Channel, type ContactPolicy, ContactPolicyBody } from '../../src/contact-policy/policy.ts';

const scope = fc.constantFrom('call' as const, 'message' as const, 'any' as const);
const duration = fc.constantFrom('PT1H', 'PT5H', 'PT26H', 'P2D', 'P7D', 'P30D');
const timeOfDay = fc
  .integer({ min: 0, max: 47 })
  .map((halves) => `${String(Math.floor(halves / 2)).padStart(2, '0')}:${halves % 2 ? '30' : '00'}`);
const channelList = fc.constantFrom<Channel[]>(['call'], ['message'], ['call', 'message']);

/** Slots of at most eight hours on some days, so that all zones together leave time. */
const quietSlots = fc
  .array(fc.record({ day: fc.integer({ min: 0, max: 6 }), start: timeOfDay, hours: fc.integer({ min: 1, max: 8 }) }), {
    minLength: 1,
    maxLength: 7,
  })
  .map((slots) =>
    slots.map(({ day, start, hours }) => ({
      day_of_week: day,
      start_time: start,
      end_time: `${String((Number(start.slice(0, 2)) + hours) % 24).padStart(2, '0')}:${start.slice(3)}`,
    })),
  );

const dates = fc.array(
  fc.integer({ min: 0, max: 730 }).map((days) => new Date(Date.UTC(2026, 0, 1 + days)).toISOString().slice(0, 10)),
  { maxLength: 40 },
);

/** Any policy without consent and without calendars of countries. */
export const randomPolicy: fc.Arbitrary<ContactPolicy> = fc
  .record({
    limits: fc.array(
      fc.record({
        channel: scope,
        max: fc.integer({ min: 1, max: 4 }),
        per: fc.oneof(fc.constantFrom('day', 'week'), duration),
      }),
      { maxLength: 3 },
    ),
    min_gaps: fc.array(fc.record({ channel: scope, gap: duration }), { maxLength: 2 }),
    quiet_hours: fc.option(fc.record({ slots: quietSlots, channels: channelList }), { nil: null }),
    days_off: fc.option(fc.record({ dates, channels: channelList, public_holidays: fc.constant(false) }), { nil: null }),
    when_held: fc.constantFrom('wait' as const, 'skip' as const),
  })
  .map((policy) => ContactPolicyBody.parse(policy));

/** Zones on all sides of the date line, with changes of their clocks at different moments. */
export const allZones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Los_Angeles',
  'America/Havana',
  'Asia/Kolkata',
  'Asia/Beirut',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
];

export const randomZones: fc.Arbitrary<string[]> = fc.uniqueArray(fc.constantFrom(...allZones), { minLength: 1, maxLength: 3 });

/** A contact that has happened. `at` in epoch ms. */
export interface RealContact {
  channel: Channel;
  at: number;
}

/** The wall clock of a zone by the runtime's calendar, which the service does not ask in this way. */
function wallClock(zone: string, moment: number): { date: string; weekday: number; minutes: number } {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
      .formatToParts(moment)
      .map(({ type, value }) => [type, value]),
  );
  const date = `${parts['year']}-${parts['month']}-${parts['day']}`;
  const weekday = (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7;
  return { date, weekday, minutes: Number(parts['hour']) * 60 + Number(parts['minute']) };
}

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
const durationMs: Record<string, number> = {
  PT1H: 3_600_000,
  PT5H: 5 * 3_600_000,
  PT26H: 26 * 3_600_000,
  P2D: 2 * 86_400_000,
  P7D: 7 * 86_400_000,
  P30D: 30 * 86_400_000,
};

function isQuiet(slots: { day_of_week: number; start_time: string; end_time: string }[], zone: string, moment: number): boolean {
  const { weekday, minutes } = wallClock(zone, moment);
  return slots.some(({ day_of_week: day, start_time: start, end_time: end }) => {
    const [from, to] = [minutesOf(start), minutesOf(end)];
    if (from < to) return weekday === day && minutes >= from && minutes < to;
    return (weekday === day && minutes >= from) || (weekday === (day + 1) % 7 && minutes < to);
  });
}

const monday = (date: string): string => {
  const moment = Date.parse(`${date}T00:00:00Z`);
  return new Date(moment - ((new Date(moment).getUTCDay() + 6) % 7) * 86_400_000).toISOString().slice(0, 10);
};

/** The rules that these contacts with one person break, counted in plain ways. */
export function brokenRules(policy: ContactPolicy, zones: readonly string[], contacts: RealContact[]): string[] {
  const broken: string[] = [];
  const of = (channel: string) =>
    contacts
      .filter((contact) => channel === 'any' || contact.channel === channel)
      .map(({ at }) => at)
      .toSorted((one, other) => one - other);
  for (const { channel, max, per } of policy.limits) {
    const times = of(channel);
    if (per === 'day' || per === 'week') {
      for (const zone of zones) {
        const counts = new Map<string, number>();
        for (const time of times) {
          const { date } = wallClock(zone, time);
          const name = per === 'day' ? date : monday(date);
          counts.set(name, (counts.get(name) ?? 0) + 1);
        }
        for (const [name, count] of counts) if (count > max) broken.push(`${count} ${channel} in the ${per} ${name} of ${zone}`);
      }
    } else if (times.some((time, index) => index >= max && time - times[index - max]! < durationMs[per]!))
      broken.push(`more than ${max} ${channel} within ${per}`);
  }
  for (const { channel, gap } of policy.min_gaps) {
    const times = of(channel);
    if (times.some((time, index) => index > 0 && time - times[index - 1]! < durationMs[gap]!)) broken.push(`less than ${gap} apart`);
  }
  for (const { channel, at } of contacts)
    for (const zone of zones) {
      if (policy.quiet_hours?.channels.includes(channel) && isQuiet(policy.quiet_hours.slots, zone, at)) broken.push(`quiet in ${zone}`);
      if (policy.days_off?.channels.includes(channel) && policy.days_off.dates.includes(wallClock(zone, at).date))
        broken.push(`a day off in ${zone}`);
    }
  return broken;
}
