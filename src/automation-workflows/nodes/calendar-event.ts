import { z } from 'zod';
import { configObject } from '../../library/config-object.ts';
import { toTimestamp } from '../../library/clock.ts';
import { addExact, durationProblem, parseDuration } from '../../library/durations.ts';
import { parseInstant } from '../../library/instants.ts';
import { zoneSchema } from '../settings.ts';
import { isTemplate, render, renderText, type Scope } from '../templates.ts';
import { act } from './app-action.ts';
import { actionHandles, defineNode, failure, type Step } from './contract.ts';
import { durationText, renderDuration } from './duration-text.ts';
import { zoneFor } from './zone.ts';

const example = 'a timestamp such as 2026-11-28T09:00, or a template that gives one, such as {{ data.slot }}';
const moment = z
  .string()
  .min(1)
  .max(1000)
  .refine((text) => isTemplate(text) || parseInstant(text) !== null, `Must be ${example}`);

const CalendarEventData = configObject({
  calendar_id: z.string().min(1).max(1000).nullish(),
  start: moment,
  end: moment.optional(),
  duration: durationText().optional(),
  summary: z.string().min(1).max(2000),
  description: z.string().max(8000).nullish(),
  location: z.string().max(1000).nullish(),
  attendees: z.array(z.string().min(1).max(1000)).max(100).default([]),
  timezone: zoneSchema.default('organization'),
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
    const { zone } = zoneFor(data.timezone, scope, step.organization);
    const times = timesOf(step, zone);
    if ('problem' in times) return failure('invalid_time', times.problem);
    const attendees = data.attendees.map((template) => renderText(template, scope).trim()).filter((address) => address !== '');
    const wrong = attendees.find((address) => !isAddress(address));
    if (wrong !== undefined) return failure('invalid_attendee', `attendees: ${JSON.stringify(wrong.slice(0, 200))} is no e-mail address`);
    const event = {
      calendarId: text(data.calendar_id, scope),
      start: toTimestamp(times.start),
      end: toTimestamp(times.end),
      timeZone: zone,
      summary: renderText(data.summary, scope).replace(/\s+/g, ' ').trim(),
      description: text(data.description, scope),
      location: text(data.location, scope),
      attendees: [...new Set(attendees)],
    };
    const { calendarId: calendar_id = 'primary', timeZone: timezone, ...shown } = event;
    return act(step, { shown: { calendar_id, ...shown, timezone }, isLookedUp: true }, () => effects.createEvent(key, event));
  },
});

/** Undefined: it is not given, or renders to nothing. */
const text = (template: string | null | undefined, scope: Scope): string | undefined =>
  template == null ? undefined : renderText(template, scope).trim() || undefined;

/** Epoch ms, both. */
function timesOf({ data, scope }: Step<CalendarEventData>, zone: string): { start: number; end: number } | { problem: string } {
  const start = parseInstant(render(data.start, scope), zone);
  if (start === null) return { problem: `start: ${told(data.start, scope)}; it must be ${example}` };
  if (data.end !== undefined) {
    const end = parseInstant(render(data.end, scope), zone);
    if (end === null) return { problem: `end: ${told(data.end, scope)}; it must be ${example}` };
    return end > start ? { start, end } : { problem: `end: ${toTimestamp(end)} is not after the start, ${toTimestamp(start)}` };
  }
  const duration = renderDuration(data.duration ?? '', scope);
  const problem = durationProblem(duration);
  return problem ? { problem: `duration: ${problem}` } : { start, end: addExact(start, parseDuration(duration)) };
}

const told = (template: string, scope: Scope): string =>
  `${JSON.stringify(template)} renders to ${JSON.stringify(render(template, scope))}`;

const isAddress = (address: string): boolean => z.email().safeParse(address).success;
