import { nullableTimestamp, toTimestamp } from '../../../library/time/clock.ts';
import type { ExplainCheck } from '../schemas.ts';
import { toNextFireAt } from '../../triggers/prepare-trigger.ts';
import type { TriggerRow } from '../../triggers/store.ts';
import { readTriggerConfig, type EvaluationInput } from '../evaluation-input.ts';
import type { TriggerEvaluation } from '../trigger-evaluation.ts';
import { sampleWithContext, currentContactLabel } from '../sample-event.ts';

/** A schedule fires for the members of its audience. */
export function evaluateSchedule(input: EvaluationInput, trigger: TriggerRow): TriggerEvaluation {
  const config = readTriggerConfig<'schedule'>(trigger);
  const isArmed = input.isWorkflowActive && trigger.state === 'active';
  const next = isArmed ? trigger.next_fire_at : toNextFireAt('schedule', config, input.now);
  const at = next === null ? '' : `, next at ${toTimestamp(next)}`;
  return {
    when: `when cron "${config.cron}" is due in ${config.timezone}${isArmed ? at : ''}`,
    latestText: '',
    checks: [audienceCheck(input, config.audience?.list_id ?? null), ...(isArmed ? [nextFireCheck(trigger)] : [])],
    sample: sampleWithContext(input, { scheduled_at: toTimestamp(next ?? input.now) }, { label: currentContactLabel, details: null }),
  };
}

function audienceCheck({ memberships }: EvaluationInput, listId: number | null): ExplainCheck {
  const rule = 'audience';
  if (listId === null) {
    const message = 'It has no audience, so it starts one run without a contact; name a list in config.audience.list_id';
    return { rule, passed: false, message, expected: 'a list that the contact is on', actual: null };
  }
  const list = memberships.get(listId);
  const isMember = list?.is_member === 1;
  const message = list
    ? `The contact is ${isMember ? '' : 'not '}on contact list ${listId} ${JSON.stringify(list.name)}`
    : `Contact list ${listId}, its audience, is deleted`;
  return { rule, passed: isMember, message, expected: { list_id: listId }, actual: list ? { is_member: isMember } : null };
}

function nextFireCheck({ next_fire_at: next }: TriggerRow): ExplainCheck {
  const message = next === null ? 'Its cron never comes due again' : `It fires next at ${toTimestamp(next)}`;
  return { rule: 'next_fire_at', passed: next !== null, message, expected: 'a moment', actual: nullableTimestamp(next) };
}
