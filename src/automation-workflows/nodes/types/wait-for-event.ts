import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { addExact, durationProblem, parseDuration, subtractExact } from '../../../library/time/durations.ts';
import { eventType } from '../../../library/event-type.ts';
import { isRecord } from '../../../library/json/json.ts';
import { pathProblem } from '../../../library/json/paths.ts';
import { Condition } from '../../../expressions/conditions/condition.ts';
import { render } from '../../../expressions/templates/render.ts';
import { defineNode, failure, type EventSubscription, type Step, type StepResult } from '../contract.ts';
import { durationOrTemplate, renderDuration } from '../shared/fields.ts';

export const receivedHandle = 'received';
export const timeoutHandle = 'timeout';

const maxValueLength = 500;

export const WaitForEventData = configObject({
  event_types: z.array(eventType).min(1).max(20),
  match: configObject({
    field: z
      .string()
      .max(500)
      .superRefine((path, context) => {
        const problem = pathProblem(path);
        if (problem) context.addIssue({ code: 'custom', message: `Field ${problem}` });
      }),
    value: z.union([z.string().min(1), z.number(), z.boolean()], 'Must be text (perhaps a template), a number or a boolean'),
  }).nullish(),
  filter: Condition.nullish(),
  timeout: durationOrTemplate(),
  lookback: durationOrTemplate({ allowZero: true }).default('PT0S'),
});

export type WaitForEventData = z.infer<typeof WaitForEventData>;

export const waitForEventNode = defineNode<WaitForEventData>({
  type: 'wait_for_event',
  label: 'Wait for an event',
  description:
    "Sleeps until the first event of one of `event_types` comes, then goes on at `received`; after `timeout`, at `timeout`. Without `match` it takes events of the run's contact, with it those whose `field` (a path into the event, such as data.order_id) equals `value`. `filter` sees the event as `event` and its payload as `data`. Events since the step before are taken, too, and `lookback` reaches further back.",
  dataSchema: WaitForEventData,
  handles: () => [receivedHandle, timeoutHandle],
  isWait: true,
  needsContact: true,
  example: {
    event_types: ['order_placed', 'cart_emptied'],
    match: { field: 'data.cart_id', value: '{{ data.cart_id }}' },
    timeout: 'PT4H',
  },
  run: async (step) => {
    const { data, now, scope } = step;
    const timeout = renderDuration(data.timeout, scope);
    const problem = durationProblem(timeout);
    if (problem) return failure('invalid_wait', `timeout: ${problem}`);
    const lookback = renderDuration(data.lookback, scope);
    const lookbackProblem = durationProblem(lookback, { allowZero: true });
    if (lookbackProblem) return failure('invalid_wait', `lookback: ${lookbackProblem}`);
    const until = addExact(now, parseDuration(timeout));
    const since = subtractExact(step.enteredAt, parseDuration(lookback, { allowZero: true }));
    const matched = data.match ? resolveMatch(data.match, step) : matchContact(scope['contact']);
    if ('kind' in matched) return matched;
    const events: EventSubscription = { types: [...new Set(data.event_types)], ...matched, since };
    return { kind: 'wait_for_event', until, events, output: toOutput(events, until) };
  },
});

function resolveMatch(match: NonNullable<WaitForEventData['match']>, { scope }: Step): { field: string; value: string } | StepResult {
  const value = toMatchText(typeof match.value === 'string' ? render(match.value, scope) : match.value);
  if (value === null)
    return failure(
      'invalid_match',
      `match.value: ${JSON.stringify(match.value)} renders to nothing that can be compared; it must give text of at most ${maxValueLength} characters, a number or a boolean`,
    );
  return { field: match.field.replace(/^event\./, ''), value };
}

function matchContact(contact: unknown): { field: null; value: string } | StepResult {
  if (isRecord(contact) && typeof contact['id'] === 'number') return { field: null, value: String(contact['id']) };
  return failure('no_contact', 'This run has no contact whose events it could wait for; give match');
}

/** The text by which values are compared, so that 12 equals "12"; null for values that cannot be compared. */
export function toMatchText(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  const text = String(value).trim();
  return text === '' || text.length > maxValueLength ? null : text;
}

const toOutput = (events: EventSubscription, until: number) => ({
  until: new Date(until).toISOString(),
  waiting_for: events.types,
  match: events.field === null ? { contact_id: Number(events.value) } : { field: events.field, value: events.value },
  since: new Date(events.since).toISOString(),
  why: `until the first ${events.types.join(' or ')} of ${events.field === null ? 'the contact' : `${events.field} = ${events.value}`}; else it goes on at "timeout"`,
});
