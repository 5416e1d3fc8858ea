import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import { addExact, durationProblem, parseDuration } from '../../../library/time/durations.ts';
import { parseInstant } from '../../../library/time/instants.ts';
import { timeZoneSchema } from '../../../expressions/schemas/fields.ts';
import { isTemplate, render, renderText, type Scope } from '../../../expressions/templates/render.ts';
import { performAppAction } from '../shared/app-action.ts';
import { actionHandles, defineNode, failure, type Step } from '../contract.ts';
import { durationOrTemplate, renderDuration } from '../shared/fields.ts';
import { resolveTimeZone } from '../shared/time-zone.ts';

const instantExample = 'a timestamp such as 2026-11-28T09:00, or a template that gives one, such as {{ data.slot }}';
const instantText = z
  .string()
  .min(1)
  .max(1000)
  .refine((text) => isTemplate(text) || parseInstant(text) !== null, `Must be ${instantExample}`);

const CalendarEventData = configObject({
  calendar_id: z.string().min(1).max(1000).nullish(),
  start: instantText,
  end: instantText.optional(),
  duration: durationOrTemplate().optional(),
  summary: z.string().min(1).max(2000),
  description: z.string().max(8000).nullish(),
  location: z.string().max(1000).nullish(),
  attendees: z.array(z.string().min(1).max(1000)).max(100).default([]),
  timezone: timeZoneSchema.default('organization'),
}).refine((data) => (data.end === undefined) !== (data.duration === undefined), {
  path: ['end'],
  message: 'Give either end or duration, such as PT30M',
});
type CalendarEventData = z.infer<typeof CalendarEventData>;

export const calendarEventNode = defineNode<CalendarEventData>({
  type: 'calendar_event',
  label: 'Calendar event',
  description:
    'Makes an event in the connected calendar, or in `calendar_id` of the same account: from `start` to `end`, or for `duration`. Without an offset a time is local time in `timezone`: "organization", "contact" or an IANA zone. `attendees` are addresses, and are invited by mail; those that render to nothing are left out. The output has id and url. The event has an id of its own, so a repeat makes no second one.',
  dataSchema: CalendarEventData,
  handles: actionHandles,
  isSideEffect: true,
  example: {
    start: '{{ data.slot }}',
    duration: 'PT30M',
    summary: 'Visit of {{ contact.first_name }}',
    attendees: ['{{ contact.email }}'],
    timezone: 'contact',
  },
  run: async (step) => {
    const { data, scope, effects, key } = step;
    const { zone } = resolveTimeZone(data.timezone, scope, step.organization);
    const times = resolveTimes(step, zone);
    if ('problem' in times) return failure('invalid_time', times.problem);
    const attendees = data.attendees.map((template) => renderText(template, scope).trim()).filter((address) => address !== '');
    const wrong = attendees.find((address) => !isEmailAddress(address));
    if (wrong !== undefined) return failure('invalid_attendee', `attendees: ${JSON.stringify(wrong.slice(0, 200))} is no e-mail address`);
    const event = {
      calendarId: renderOptional(data.calendar_id, scope),
      start: toTimestamp(times.start),
      end: toTimestamp(times.end),
      timeZone: zone,
      summary: renderText(data.summary, scope).replace(/\s+/g, ' ').trim(),
      description: renderOptional(data.description, scope),
      location: renderOptional(data.location, scope),
      attendees: [...new Set(attendees)],
    };
    const { calendarId: calendar_id = 'primary', timeZone: timezone, ...rest } = event;
    return performAppAction(step, { request: { calendar_id, ...rest, timezone }, isLookedUp: true }, () => effects.createEvent(key, event));
  },
});

/** Undefined when the template is absent or renders to nothing. */
const renderOptional = (template: string | null | undefined, scope: Scope): string | undefined =>
  template == null ? undefined : renderText(template, scope).trim() || undefined;

/** Start and end in epoch ms. */
function resolveTimes({ data, scope }: Step<CalendarEventData>, zone: string): { start: number; end: number } | { problem: string } {
  const start = parseInstant(render(data.start, scope), zone);
  if (start === null) return { problem: `start: ${describeRendered(data.start, scope)}; it must be ${instantExample}` };
  if (data.end !== undefined) {
    const end = parseInstant(render(data.end, scope), zone);
    if (end === null) return { problem: `end: ${describeRendered(data.end, scope)}; it must be ${instantExample}` };
    return end > start ? { start, end } : { problem: `end: ${toTimestamp(end)} is not after the start, ${toTimestamp(start)}` };
  }
  const duration = renderDuration(data.duration ?? '', scope);
  const problem = durationProblem(duration);
  return problem ? { problem: `duration: ${problem}` } : { start, end: addExact(start, parseDuration(duration)) };
}

const describeRendered = (template: string, scope: Scope): string =>
  `${JSON.stringify(template)} renders to ${JSON.stringify(render(template, scope))}`;

const isEmailAddress = (address: string): boolean => z.email().safeParse(address).success;
