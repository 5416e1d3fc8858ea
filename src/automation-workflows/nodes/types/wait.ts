import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import { addExact, durationProblem, parseDuration } from '../../../library/time/durations.ts';
import { parseInstant } from '../../../library/time/instants.ts';
import { addCalendarDays, minutesOfDay, nextTimeOfDay } from '../../../library/time/time-zones.ts';
import { timeZoneSchema } from '../../../expressions/schemas/fields.ts';
import { isTemplate, render } from '../../../expressions/templates/render.ts';
import { defaultHandle, defineNode, failure, next, type Step, type StepResult } from '../contract.ts';
import { resolveTimeZone, describeTimeZone } from '../shared/time-zone.ts';

const waitForms = ['duration', 'calendar_days', 'until', 'time_of_day'] as const;

const WaitData = configObject({
  duration: z
    .string()
    .superRefine((text, context) => {
      const problem = isTemplate(text) ? null : durationProblem(text, { allowZero: true });
      if (problem) context.addIssue({ code: 'custom', message: problem });
    })
    .optional(),
  calendar_days: z.int().min(1).max(366).optional(),
  until: z
    .string()
    .min(1)
    .refine(
      (text) => isTemplate(text) || parseInstant(text) !== null,
      'Must be a timestamp such as 2026-11-28T09:00 or a template that gives one, such as {{ contact.custom_fields.renewal }}',
    )
    .optional(),
  time_of_day: z
    .string()
    .refine((text) => minutesOfDay(text) !== null, 'Must be HH:MM between 00:00 and 23:59')
    .optional(),
  days: z.array(z.int().min(0).max(6)).min(1).max(7).optional(),
  timezone: timeZoneSchema.default('contact'),
  past_due: z.enum(['continue', 'skip', 'fail']).default('continue'),
}).superRefine((data, context) => {
  const given = waitForms.filter((form) => data[form] !== undefined);
  if (given.length !== 1)
    context.addIssue({
      code: 'custom',
      message: `Give exactly one of ${waitForms.join(', ')}; ${given.length ? `there are ${given.join(' and ')}` : 'there is none'}`,
    });
  if (data.days && data.time_of_day === undefined)
    context.addIssue({ code: 'custom', path: ['days'], message: 'days belongs to time_of_day; give both or none' });
});

type WaitData = z.infer<typeof WaitData>;

export const waitNode = defineNode<WaitData>({
  type: 'wait',
  label: 'Wait',
  description:
    'Sleeps for an exact `duration` (P1D is 24 hours), until the same local time `calendar_days` on, until the timestamp that `until` renders to (without an offset it is local time in `timezone`; numbers are epoch seconds or milliseconds), or until the next `time_of_day` on one of `days` (0 = Monday). `timezone` "contact" is the zone in the contact\'s custom field timezone, else that of the phone number\'s country when it has only one, else the organization\'s. A moment that is already past: "continue" goes on at once, "skip" ends the run with outcome "skipped", "fail" fails it.',
  dataSchema: WaitData,
  handles: () => [defaultHandle],
  isWait: true,
  needsContact: true,
  example: { time_of_day: '09:00', days: [0, 1, 2, 3, 4], timezone: 'contact' },
  run: async (step) => {
    const { data, now, scope, organization } = step;
    if (data.duration !== undefined) return forDuration(step);
    const zoneInfo = resolveTimeZone(data.timezone, scope, organization);
    if (data.until !== undefined) return untilMoment(step, zoneInfo);
    if (data.time_of_day !== undefined) return untilTimeOfDay(now, data.time_of_day, data.days ?? [], zoneInfo);
    return forCalendarDays(now, data.calendar_days ?? 1, zoneInfo);
  },
});

type ResolvedTimeZone = ReturnType<typeof resolveTimeZone>;

const waitUntil = (until: number, why: string, zoneInfo?: ResolvedTimeZone): StepResult => ({
  kind: 'wait',
  until,
  output: toOutput(until, why, zoneInfo),
});

const toOutput = (until: number, why: string, zoneInfo?: ResolvedTimeZone) => ({
  until: toTimestamp(until),
  ...(zoneInfo && { timezone: zoneInfo.zone, timezone_rule: zoneInfo.rule }),
  why: zoneInfo ? `${why} ${describeTimeZone(zoneInfo.zone, zoneInfo.rule)}` : why,
});

function forDuration({ data, scope, now }: Step<WaitData>): StepResult {
  const text = String(render(data.duration ?? '', scope) ?? '');
  const problem = durationProblem(text, { allowZero: true });
  if (problem) return failure('invalid_wait', `duration: ${problem}`);
  return waitUntil(addExact(now, parseDuration(text, { allowZero: true })), `${text} after the step began`);
}

const forCalendarDays = (now: number, days: number, zoneInfo: ResolvedTimeZone): StepResult =>
  waitUntil(
    addCalendarDays(now, days, zoneInfo.zone),
    `${days} calendar ${days === 1 ? 'day' : 'days'} on at the same local time`,
    zoneInfo,
  );

const untilTimeOfDay = (now: number, time: string, days: readonly number[], zoneInfo: ResolvedTimeZone): StepResult =>
  waitUntil(nextTimeOfDay(now, time, days, zoneInfo.zone), `until ${time} on ${formatDays(days)}`, zoneInfo);

function untilMoment({ data, scope, now }: Step<WaitData>, zoneInfo: ResolvedTimeZone): StepResult {
  const value = render(data.until ?? '', scope);
  const until = parseInstant(value, zoneInfo.zone);
  if (until === null)
    return failure(
      'invalid_wait',
      `until: ${JSON.stringify(value)} is not a timestamp; it must render to an ISO 8601 date or epoch seconds or milliseconds`,
    );
  const usedZone = isLocalTime(value) ? zoneInfo : undefined;
  if (until > now) return waitUntil(until, `until ${String(value)}`, usedZone);
  const output = { ...toOutput(until, `not at all: the moment has passed; it was ${String(value)}`, usedZone), past_due: data.past_due };
  if (data.past_due === 'continue') return next(output);
  if (data.past_due === 'skip') return { kind: 'exit', outcome: 'skipped', output };
  return failure('past_due', `until: ${output.until} has passed`);
}

/** Whether `value` has no offset, so that its moment depends on the time zone. */
const isLocalTime = (value: unknown): boolean => parseInstant(value, 'Etc/GMT+1') !== parseInstant(value, 'UTC');

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** `Monday to Friday`, `Monday, Wednesday and Friday`, `any day`. */
function formatDays(days: readonly number[]): string {
  const chosen = weekdays.filter((_, day) => days.includes(day));
  if (chosen.length === 0 || chosen.length === weekdays.length) return 'any day';
  const [first, last] = [Math.min(...days), Math.max(...days)];
  if (chosen.length > 2 && last - first === chosen.length - 1) return `${weekdays[first]!} to ${weekdays[last]!}`;
  return new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(chosen);
}
