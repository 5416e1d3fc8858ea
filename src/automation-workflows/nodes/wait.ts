import { z } from 'zod';
import { addExact, durationProblem, parseDuration } from '../../library/durations.ts';
import { parseInstant } from '../../library/instants.ts';
import { isRecord } from '../../library/json.ts';
import { addCalendarDays, isTimeZone, minutesOfDay, nextTimeOfDay } from '../../library/time-zones.ts';
import { timezoneProblem } from '../schedule.ts';
import { isTemplate, render } from '../templates.ts';
import { defaultHandle, defineNode, failure, next, type Step, type StepResult } from './contract.ts';

const forms = ['duration', 'calendar_days', 'until', 'time_of_day'] as const;

const WaitData = z
  .strictObject({
    duration: z
      .string()
      .superRefine((text, context) => {
        const problem = isTemplate(text) ? null : durationProblem(text, { allowZero: true });
        if (problem) context.addIssue({ code: 'custom', message: problem });
      })
      .optional(),
    calendar_days: z.int().min(1).max(366).optional(),
    until: z.string().min(1).optional(),
    time_of_day: z
      .string()
      .refine((text) => minutesOfDay(text) !== null, 'Must be HH:MM between 00:00 and 23:59')
      .optional(),
    days: z.array(z.int().min(0).max(6)).min(1).max(7).optional(),
    timezone: z
      .string()
      .superRefine((zone, context) => {
        const problem = zone === 'contact' || zone === 'organization' ? null : timezoneProblem(zone);
        if (problem) context.addIssue({ code: 'custom', message: `${problem}, "contact" or "organization"` });
      })
      .default('contact'),
    past_due: z.enum(['continue', 'skip', 'fail']).default('continue'),
  })
  .superRefine((data, context) => {
    const given = forms.filter((form) => data[form] !== undefined);
    if (given.length !== 1)
      context.addIssue({
        code: 'custom',
        message: `Give exactly one of ${forms.join(', ')}; ${given.length ? `there are ${given.join(' and ')}` : 'there is none'}`,
      });
    if (data.days && data.time_of_day === undefined)
      context.addIssue({ code: 'custom', path: ['days'], message: 'days belongs to time_of_day; give both or none' });
  });

type WaitData = z.infer<typeof WaitData>;

export const waitNode = defineNode<WaitData>({
  type: 'wait',
  label: 'Wait',
  description:
    'Sleeps for an exact `duration` (P1D is 24 hours), until the same local time `calendar_days` on, until the timestamp that `until` renders to (without an offset it is local time in `timezone`; numbers are epoch seconds or milliseconds), or until the next `time_of_day` on one of `days` (0 = Monday). A moment that is already past: "continue" goes on at once, "skip" ends the run with outcome "skipped", "fail" fails it.',
  dataSchema: WaitData,
  handles: () => [defaultHandle],
  isWait: true,
  example: { time_of_day: '09:00', days: [0, 1, 2, 3, 4], timezone: 'contact' },
  run: async (step) => {
    const zone = zoneOf(step);
    const { data, now } = step;
    if (data.calendar_days !== undefined) return sleep(addCalendarDays(now, data.calendar_days, zone), zone);
    if (data.time_of_day !== undefined) return sleep(nextTimeOfDay(now, data.time_of_day, data.days ?? [], zone), zone);
    return data.duration === undefined ? untilMoment(step, zone) : forDuration(step);
  },
});

const sleep = (until: number, zone: string): StepResult => ({
  kind: 'wait',
  until,
  output: { until: new Date(until).toISOString(), timezone: zone },
});

function forDuration({ data, scope, now }: Step<WaitData>): StepResult {
  const text = String(render(data.duration ?? '', scope) ?? '');
  const problem = durationProblem(text, { allowZero: true });
  if (problem) return failure('invalid_wait', `duration: ${problem}`);
  const until = addExact(now, parseDuration(text, { allowZero: true }));
  return { kind: 'wait', until, output: { until: new Date(until).toISOString() } };
}

function untilMoment({ data, scope, now }: Step<WaitData>, zone: string): StepResult {
  const value = render(data.until ?? '', scope);
  const until = parseInstant(value, zone);
  if (until === null)
    return failure(
      'invalid_wait',
      `until: ${JSON.stringify(value)} is not a timestamp; it must render to an ISO 8601 date or epoch seconds or milliseconds`,
    );
  if (until > now) return sleep(until, zone);
  const output = { until: new Date(until).toISOString(), timezone: zone, past_due: data.past_due };
  if (data.past_due === 'continue') return next(output);
  if (data.past_due === 'skip') return { kind: 'exit', outcome: 'skipped', output };
  return failure('past_due', `until: ${output.until} has passed`);
}

/** "contact" is the zone in the contact's custom field `timezone` when it names one, else the organization's. */
function zoneOf({ data, scope, organization }: Step<WaitData>): string {
  if (data.timezone !== 'contact') return data.timezone === 'organization' ? organization.timezone : data.timezone;
  const contact = scope['contact'];
  const fields = isRecord(contact) ? contact['custom_fields'] : null;
  const zone = isRecord(fields) ? fields['timezone'] : null;
  return typeof zone === 'string' && isTimeZone(zone) ? zone : organization.timezone;
}
