import { nextInside, nextOutside } from '../library/time/weekly-slots.ts';
import { localDate, nextMidnight } from './calendar.ts';
import { countedIn, limitWindows, type PastContact } from './limit-windows.ts';
import type { Channel, ContactPolicy } from './policy.ts';

/** What the rules have to know of a person. */
export interface Person {
  /** All time zones in which the person may be; at least one. */
  zones: readonly string[];
  /** The name of the day off that a date (`YYYY-MM-DD`) is for the person; null: it is none. */
  dayOff(date: string): string | null;
  hasConsent: boolean;
}

/** Moments in epoch ms. `rule` is a word that names the rule, `detail` the rule as a clause. */
export type ContactDecision =
  /** `until`: when quiet hours or a day off begin next; null: none do. */
  | { kind: 'allowed'; until: number | null }
  /** `until`: the first moment at which all rules allow it, if the person is not contacted before. */
  | { kind: 'waits'; until: number; rule: string; detail: string }
  | { kind: 'never'; rule: string; detail: string };

/** A rule that does not allow a contact. `until`: it certainly does not before; null: it never does. */
interface Objection {
  rule: string;
  detail: string;
  until: number | null;
}

interface Attempt {
  channel: Channel;
  person: Person;
}

/** Each round ends with a change of a rule's answer. The quiet hours of a week repeat long before so many. */
const maxRounds = 400;
const maxDaysOffInARow = 400;

/**
 * Whether a person may be contacted at `now` (epoch ms), or when next. `history` has the contacts that count; those that are older than every
 * window may be missing. `toleranceMs` as in `limitWindows`.
 */
export function decideContact(
  policy: ContactPolicy,
  attempt: Attempt,
  history: readonly PastContact[],
  now: number,
  toleranceMs: number,
): ContactDecision {
  const found = findObjections(policy, attempt, history, now, toleranceMs);
  if (found.length === 0) return { kind: 'allowed', until: nextClosing(policy, attempt, now) };
  const named = found.find(({ until }) => until === null) ?? found.reduce((one, other) => (other.until! > one.until! ? other : one));
  const { rule, detail } = named;
  let objections = found;
  for (let round = 0; round < maxRounds; round++) {
    const final = objections.find(({ until }) => until === null);
    if (final) return { kind: 'never', rule: final.rule, detail: final.detail };
    const until = Math.max(...objections.map((objection) => objection.until!));
    objections = findObjections(policy, attempt, history, until, toleranceMs);
    if (objections.length === 0) return { kind: 'waits', until, rule, detail };
  }
  return { kind: 'never', rule: objections[0]!.rule, detail: `${objections[0]!.detail}, which leaves no time with the other rules` };
}

function findObjections(
  policy: ContactPolicy,
  attempt: Attempt,
  history: readonly PastContact[],
  moment: number,
  toleranceMs: number,
): Objection[] {
  const { channel, person } = attempt;
  const limits = limitWindows(policy, channel, person.zones, moment, toleranceMs).flatMap((window): Objection[] => {
    const counted = countedIn(window, history);
    return counted.length < window.max ? [] : [{ rule: window.rule, detail: window.detail, until: window.nextChange(counted) }];
  });
  return [...withoutConsent(policy, attempt), ...inQuietHours(policy, attempt, moment), ...onDaysOff(policy, attempt, moment), ...limits];
}

function withoutConsent({ consent }: ContactPolicy, { channel, person }: Attempt): Objection[] {
  if (!consent?.channels.includes(channel) || person.hasConsent) return [];
  return [{ rule: 'no_consent', detail: `no consent to a ${channel} is recorded`, until: null }];
}

function inQuietHours({ quiet_hours: quietHours }: ContactPolicy, { channel, person }: Attempt, moment: number): Objection[] {
  if (!quietHours?.channels.includes(channel)) return [];
  return person.zones.flatMap((zone): Objection[] => {
    const until = nextOutside(quietHours.slots, zone, moment);
    return until === moment ? [] : [{ rule: 'quiet_hours', detail: `quiet hours in ${zone}`, until }];
  });
}

function onDaysOff({ days_off: daysOff }: ContactPolicy, { channel, person }: Attempt, moment: number): Objection[] {
  if (!daysOff?.channels.includes(channel)) return [];
  return person.zones.flatMap((zone): Objection[] => {
    const name = person.dayOff(localDate(zone, moment));
    if (name === null) return [];
    let until = moment;
    for (let days = 0; days < maxDaysOffInARow && person.dayOff(localDate(zone, until)) !== null; days++) until = nextMidnight(zone, until);
    return [{ rule: 'day_off', detail: `${name} in ${zone}`, until }];
  });
}

/** When quiet hours or a day off begin next for a person who may be contacted at `now`; null: no time soon. */
function nextClosing(
  { quiet_hours: quietHours, days_off: daysOff }: ContactPolicy,
  { channel, person }: Attempt,
  now: number,
): number | null {
  const quiet = quietHours?.channels.includes(channel) ? person.zones.map((zone) => nextInside(quietHours.slots, zone, now)) : [];
  const off = daysOff?.channels.includes(channel)
    ? person.zones.map((zone) => nextMidnight(zone, now)).filter((at, index) => person.dayOff(localDate(person.zones[index]!, at)) !== null)
    : [];
  const next = Math.min(...[...quiet, ...off].filter((at) => at !== null));
  return next === Infinity ? null : next;
}
