import type { Context } from '../../context.ts';
import { findContacts } from '../../contacts/contacts/find-contacts.ts';
import { notFound } from '../../library/errors.ts';
import type { ExplainCheck, Explanation } from './schemas.ts';
import { parseSettings } from '../definitions/settings.ts';
import { findWorkflowTriggers, type TriggerRow, type TriggerType } from '../triggers/store.ts';
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

const evaluators: Record<TriggerType, (evidence: EvaluationInput, trigger: TriggerRow) => TriggerEvaluation | Promise<TriggerEvaluation>> =
  {
    contact_event: evaluateContactEvent,
    webhook: evaluateWebhook,
    schedule: evaluateSchedule,
    data_condition: evaluateDataCondition,
    event: evaluateInternalEvent,
    manual: evaluateManual,
  };

/** What the rules of the trigger's type say of the contact. */
const evaluateTriggerRules = async (evidence: EvaluationInput, trigger: TriggerRow): Promise<TriggerEvaluation> =>
  evaluators[trigger.type](evidence, trigger);

/** Whether the contact would enter the journey as both are now, by which trigger, and which rule stops it. Changes nothing. */
export async function explainEntry(context: Context, workflowId: number, contactId: number): Promise<Explanation> {
  const [workflow, contacts, triggers] = await Promise.all([
    existingWorkflow(context, workflowId),
    findContacts(context, [contactId]),
    findWorkflowTriggers(context.database, workflowId),
  ]);
  const contact = contacts.get(contactId);
  if (!contact) throw notFound('Contact');
  const settings = parseSettings(workflow.settings);
  const evidence = await loadEvaluationInput(context, contact, triggers, workflow.status === 'active');
  const { now, isWorkflowActive } = evidence;
  const looks = [];
  // One after the other: each may bring a large payload.
  for (const trigger of triggers) {
    const look = await evaluateTriggerRules(evidence, trigger);
    const template = (JSON.parse(trigger.config) as { entry_key?: string }).entry_key ?? settings.entry_key;
    looks.push({ ...look, trigger, template, entry: evaluateEntryKey(template, look.sample, contactId) });
  }
  const facts = await loadEntryKeyFacts(
    context,
    { workflowId, contactId, limitsReentry: settings.reentry.mode !== 'always' },
    looks.map(({ entry }) => entry.key),
  );
  const ofNobody = facts.get(null)!;
  const ofWorkflow = workflowVerdicts(settings, ofNobody, now);
  const schema = JSON.parse(workflow.context_schema) as Record<string, unknown>;
  const examined = looks.map(({ trigger, template, entry, sample: occasion, when, latestText: latest, checks }) => {
    const isManual = trigger.type === 'manual';
    const all: ExplainCheck[] = [
      ...triggerVerdicts(settings, trigger, ofNobody, now),
      ...checks,
      ...(isManual ? callerContextChecks('context_schema', schema) : contextChecks('context_schema', schema, occasion)),
      ...keyChecks(settings, template, entry, facts.get(entry.key)!, now),
      ...(isManual ? capacityChecks(ofWorkflow) : []),
    ];
    return { trigger, when, latest, entryKey: entry.key, checks: all };
  });
  const workflowChecks = [...(triggers.length ? [] : [noTriggerCheck]), ...ofWorkflow];
  return {
    automation_workflow_id: workflowId,
    contact_id: contactId,
    ...summarize(workflowChecks, examined),
    workflow_checks: workflowChecks,
    triggers: examined.map((one) => ({
      trigger_id: one.trigger.id,
      type: one.trigger.type,
      name: one.trigger.name,
      state: one.trigger.state,
      would_fire: isWorkflowActive ? wouldFire(one) : false,
      when: one.latest ? `${one.when}; ${one.latest}` : one.when,
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
