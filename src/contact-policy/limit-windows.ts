import { nextMidnight, startOfDay, startOfWeek } from './calendar.ts';
import { type Channel, type ContactPolicy, toWindowMs } from './policy.ts';

/** A contact with a person that counts against the limits. `at` in epoch ms. */
export interface PastContact {
  channel: Channel;
  at: number;
}

/** A limit as it holds at a moment: fewer than `max` contacts may lie after `after` (epoch ms). */
export interface LimitWindow {
  rule: string;
  detail: string;
  /** Which contacts count; null: all. */
  channel: Channel | null;
  after: number;
  max: number;
  /** When the next of the counted contacts, oldest first, leaves the window, epoch ms. `counted` has at least `max` of them. */
  nextChange(counted: PastContact[]): number;
}

const nouns = { call: 'call', message: 'message', any: 'contact' } as const;

const isAbout = (scope: Channel | 'any', channel: Channel): boolean => scope === 'any' || scope === channel;
const toCounted = (scope: Channel | 'any'): Channel | null => (scope === 'any' ? null : scope);

/**
 * The limits and gaps of a policy for a contact by `channel` at `moment` (epoch ms) with a person who may be in any of `zones`. A calendar
 * day or week is counted from the zone where it began first, so that the limit holds in each. A contact is reserved up to `toleranceMs`
 * before it happens; windows reach back as much further, so that the limits hold for the moments of the contacts, too.
 */
export function limitWindows(
  policy: Pick<ContactPolicy, 'limits' | 'min_gaps'>,
  channel: Channel,
  zones: readonly string[],
  moment: number,
  toleranceMs: number,
): LimitWindow[] {
  const at: Moment = { zones, moment, toleranceMs };
  return [
    ...policy.limits.filter((limit) => isAbout(limit.channel, channel)).map((limit) => toLimitWindow(limit, at)),
    ...policy.min_gaps.filter((gap) => isAbout(gap.channel, channel)).map((gap) => toGapWindow(gap, at)),
  ];
}

interface Moment {
  zones: readonly string[];
  moment: number;
  toleranceMs: number;
}

function toLimitWindow({ channel: scope, max, per }: ContactPolicy['limits'][number], at: Moment): LimitWindow {
  const counts = { channel: toCounted(scope), max, rule: `${nouns[scope]}s_per_${per}` };
  const detail = `at most ${max} ${nouns[scope]}${max === 1 ? '' : 's'} to a person`;
  if (per !== 'day' && per !== 'week') return { ...counts, detail: `${detail} within ${per}`, ...rollingWindow(toWindowMs(per), max, at) };
  const startOf = per === 'day' ? startOfDay : startOfWeek;
  const start = Math.min(...at.zones.map((zone) => startOf(zone, at.moment)));
  const midnight = Math.min(...at.zones.map((zone) => nextMidnight(zone, at.moment)));
  return { ...counts, detail: `${detail} a ${per}`, after: start - at.toleranceMs - 1, nextChange: () => midnight };
}

const toGapWindow = ({ channel: scope, gap }: ContactPolicy['min_gaps'][number], at: Moment): LimitWindow => ({
  channel: toCounted(scope),
  max: 1,
  rule: `gap_between_${nouns[scope]}s`,
  detail: `at least ${gap} between two ${nouns[scope]}s to a person`,
  ...rollingWindow(toWindowMs(gap), 1, at),
});

const rollingWindow = (lengthMs: number, max: number, { moment, toleranceMs }: Moment): Pick<LimitWindow, 'after' | 'nextChange'> => ({
  after: moment - lengthMs - toleranceMs,
  nextChange: (counted) => counted[counted.length - max]!.at + lengthMs + toleranceMs,
});

/** The contacts of `history` that count in a window, oldest first. */
export const countedIn = ({ channel, after }: LimitWindow, history: readonly PastContact[]): PastContact[] =>
  history.filter((past) => past.at > after && (channel === null || past.channel === channel)).toSorted((one, other) => one.at - other.at);
