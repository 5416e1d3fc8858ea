import type { Context } from '../../context.ts';
import { findContacts } from '../../contacts/contacts/find-contacts.ts';
import { notFound } from '../../library/errors.ts';
import type { ExplainCheck, Explanation } from './schemas.ts';
import { parseSettings } from '../definitions/settings.ts';
import type { TriggerType } from '../triggers/configs.ts';
import { findWorkflowTriggers, type TriggerRow } from '../triggers/store.ts';
import { existingWorkflow } from '../definitions/existing-workflow.ts';
import { evaluateEntryKey, capacityChecks, keyChecks, triggerVerdicts, workflowVerdicts } from './admission-checks.ts';
import { summarize, wouldFire } from './summarize.ts';
import { contextChecks, callerContextChecks } from './context-check.ts';
import { loadEntryKeyFacts, loadEvaluationInput, type EvaluationInput } from './evaluation-input.ts';
import { evaluateContactEvent } from './trigger-types/contact-event.ts';
import { evaluateDataCondition } from './trigger-types/data-condition.ts';
import { evaluateInternalEvent } from './trigger-types/internal-event.ts';
import { evaluateManual } from './trigger-types/manual.ts';
import { evaluateSchedule } from './trigger-types/schedule.ts';
import { evaluateWebhook } from './trigger-types/webhook.ts';
import type { TriggerEvaluation } from './trigger-evaluation.ts';

const evaluators: Record<TriggerType, (input: EvaluationInput, trigger: TriggerRow) => TriggerEvaluation | Promise<TriggerEvaluation>> = {
  contact_event: evaluateContactEvent,
  webhook: evaluateWebhook,
  schedule: evaluateSchedule,
  data_condition: evaluateDataCondition,
  event: evaluateInternalEvent,
  manual: evaluateManual,
};

/** Evaluates the rules of the trigger's own type for the contact. */
const evaluateTriggerRules = async (input: EvaluationInput, trigger: TriggerRow): Promise<TriggerEvaluation> =>
  evaluators[trigger.type](input, trigger);

/** Whether the contact would enter the journey now, by which trigger, and which rule stops it. It only reads. Throws 404 for a missing workflow or contact. */
export async function explainEntry(context: Context, workflowId: number, contactId: number): Promise<Explanation> {
  const [workflow, contacts, triggers] = await Promise.all([
    existingWorkflow(context, workflowId),
    findContacts(context, [contactId]),
    findWorkflowTriggers(context.database, workflowId),
  ]);
  const contact = contacts.get(contactId);
  if (!contact) throw notFound('Contact');
  const settings = parseSettings(workflow.settings);
  const input = await loadEvaluationInput(context, contact, triggers, workflow.status === 'active');
  const { now, isWorkflowActive } = input;
  const evaluations = [];
  // One after the other, since each may load a large payload.
  for (const trigger of triggers) {
    const evaluation = await evaluateTriggerRules(input, trigger);
    const template = (JSON.parse(trigger.config) as { entry_key?: string }).entry_key ?? settings.entry_key;
    evaluations.push({ ...evaluation, trigger, template, entry: evaluateEntryKey(template, evaluation.sample, contactId) });
  }
  const facts = await loadEntryKeyFacts(
    context,
    { workflowId, contactId, limitsReentry: settings.reentry.mode !== 'always' },
    evaluations.map(({ entry }) => entry.key),
  );
  const factsWithoutKey = facts.get(null)!;
  const verdictsOfWorkflow = workflowVerdicts(settings, factsWithoutKey, now);
  const schema = JSON.parse(workflow.context_schema) as Record<string, unknown>;
  const evaluated = evaluations.map(({ trigger, template, entry, sample, when, latestText, checks }) => {
    const isManual = trigger.type === 'manual';
    const all: ExplainCheck[] = [
      ...triggerVerdicts(settings, trigger, factsWithoutKey, now),
      ...checks,
      ...(isManual ? callerContextChecks('context_schema', schema) : contextChecks('context_schema', schema, sample)),
      ...keyChecks(settings, template, entry, facts.get(entry.key)!, now),
      ...(isManual ? capacityChecks(verdictsOfWorkflow) : []),
    ];
    return { trigger, when, latestText, entryKey: entry.key, checks: all };
  });
  const workflowChecks = [...(triggers.length ? [] : [noTriggerCheck]), ...verdictsOfWorkflow];
  return {
    automation_workflow_id: workflowId,
    contact_id: contactId,
    ...summarize(workflowChecks, evaluated),
    workflow_checks: workflowChecks,
    triggers: evaluated.map((one) => ({
      trigger_id: one.trigger.id,
      type: one.trigger.type,
      name: one.trigger.name,
      state: one.trigger.state,
      would_fire: isWorkflowActive ? wouldFire(one) : false,
      when: one.latestText ? `${one.when}; ${one.latestText}` : one.when,
      entry_key: one.entryKey,
      checks: one.checks,
    })),
  };
}

const noTriggerCheck: ExplainCheck = {
  rule: 'no_trigger',
  passed: false,
  message: 'The workflow has no trigger, so nothing starts it but POST .../execute; add a trigger',
  expected: 'a trigger',
  actual: null,
};
