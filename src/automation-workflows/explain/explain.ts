import type { Context } from '../../accounts/context.ts';
import { findContacts } from '../../contacts/find-contacts.ts';
import { notFound } from '../../library/errors.ts';
import type { ExplainCheck, Explanation } from '../schemas.ts';
import { settingsFrom } from '../settings.ts';
import { triggersOfWorkflow } from '../triggers/store.ts';
import { existingWorkflow } from '../workflows/existing.ts';
import { entryKeyFor, firingChecks, keyChecks, triggerVerdicts, workflowVerdicts } from './admission-checks.ts';
import { conclude, wouldFire } from './conclude.ts';
import { contextChecks, givenContextChecks } from './context-check.ts';
import { entryFacts } from './entry-facts.ts';
import { gatherEvidence } from './evidence.ts';
import { lookAtTrigger } from './look-at-trigger.ts';

/** Whether the contact would enter the journey as both are now, by which trigger, and which rule stops it. Changes nothing. */
export async function explainEntry(context: Context, workflowId: number, contactId: number): Promise<Explanation> {
  const [workflow, contacts, triggers] = await Promise.all([
    existingWorkflow(context, workflowId),
    findContacts(context, [contactId]),
    triggersOfWorkflow(context.database, workflowId),
  ]);
  const contact = contacts.get(contactId);
  if (!contact) throw notFound('Contact');
  const settings = settingsFrom(workflow.settings);
  const evidence = await gatherEvidence(context, contact, triggers, workflow.status === 'active');
  const { now, isWorkflowActive } = evidence;
  const looks = [];
  // One after the other: each may bring a large payload.
  for (const trigger of triggers) {
    const look = await lookAtTrigger(evidence, trigger);
    const template = (JSON.parse(trigger.config) as { entry_key?: string }).entry_key ?? settings.entry_key;
    looks.push({ ...look, trigger, template, entry: entryKeyFor(template, look.occasion, contactId) });
  }
  const facts = await entryFacts(
    context,
    { workflowId, contactId, limitsReentry: settings.reentry.mode !== 'always' },
    looks.map(({ entry }) => entry.key),
  );
  const ofNobody = facts.get(null)!;
  const ofWorkflow = workflowVerdicts(settings, ofNobody, now);
  const schema = JSON.parse(workflow.context_schema) as Record<string, unknown>;
  const examined = looks.map(({ trigger, template, entry, occasion, when, latest, checks }) => {
    const isManual = trigger.type === 'manual';
    const all: ExplainCheck[] = [
      ...triggerVerdicts(settings, trigger, ofNobody, now),
      ...checks,
      ...(isManual ? givenContextChecks('context_schema', schema) : contextChecks('context_schema', schema, occasion)),
      ...keyChecks(settings, template, entry, facts.get(entry.key)!, now),
      ...(isManual ? firingChecks(ofWorkflow) : []),
    ];
    return { trigger, when, latest, entryKey: entry.key, checks: all };
  });
  const workflowChecks = [...(triggers.length ? [] : [noTrigger]), ...ofWorkflow];
  return {
    automation_workflow_id: workflowId,
    contact_id: contactId,
    ...conclude(workflowChecks, examined),
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

const noTrigger: ExplainCheck = {
  rule: 'no_trigger',
  passed: false,
  message: 'The workflow has no trigger, so nothing starts it but POST .../execute; add a trigger',
  expected: 'a trigger',
  actual: null,
};
