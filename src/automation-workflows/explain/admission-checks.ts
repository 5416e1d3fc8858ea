import { evaluateAdmissionRules, type AdmissionVerdict } from '../runs/admission/rules.ts';
import type { AdmissionFacts } from '../runs/admission/store.ts';
import { renderEntryKey } from '../runs/admission/entry-key.ts';
import type { ExplainCheck } from './schemas.ts';
import type { WorkflowSettings } from '../definitions/settings.ts';
import { EvaluationError } from '../../expressions/templates/render.ts';
import type { TriggerRow } from '../triggers/store.ts';
import { isKnown } from './partial-evaluation.ts';
import type { SampleEvent } from './sample-event.ts';

/** The entry key of a run; `isUnknown`: it depends on what comes; `problem`: it cannot be rendered. */
export type EntryKeyResult = { key: string | null; isUnknown?: boolean; problem?: string };

/** `template`: the trigger's or the workflow's; null: the contact's id. */
export function evaluateEntryKey(template: string | null, occasion: SampleEvent, contactId: number): EntryKeyResult {
  if (template && !isKnown(occasion.knownRoots, template)) return { key: null, isUnknown: true };
  try {
    return { key: renderEntryKey(template, occasion.scope, contactId, null) };
  } catch (error) {
    if (error instanceof EvaluationError) return { key: null, problem: error.message };
    throw error;
  }
}

const isKeyRule = ({ rule }: AdmissionVerdict): boolean => rule === 'reentry' || rule === 'one_live_run_per_key';

/** Whether the workflow is active and has room. `now` in epoch ms. */
export const workflowVerdicts = (settings: WorkflowSettings, facts: AdmissionFacts, now: number): AdmissionVerdict[] =>
  evaluateAdmissionRules(settings, null, { ...facts, trigger_state: null }, now).filter((verdict) => !isKeyRule(verdict));

/** Whether the trigger is active, whatever its workflow is. */
export const triggerVerdicts = (
  settings: WorkflowSettings,
  { state }: TriggerRow,
  facts: AdmissionFacts,
  now: number,
): AdmissionVerdict[] =>
  evaluateAdmissionRules(settings, null, { ...facts, workflow_status: 'active', trigger_state: state }, now).filter(
    ({ rule }) => rule === 'status',
  );

/** Whether the workflow's rules let the key in. `facts` are the key's. */
export function keyChecks(
  settings: WorkflowSettings,
  template: string | null,
  { key, isUnknown: isOpen, problem }: EntryKeyResult,
  facts: AdmissionFacts,
  now: number,
): ExplainCheck[] {
  if (problem !== undefined) return [{ rule: 'entry_key', passed: false, message: problem, expected: template, actual: null }];
  const checks = evaluateAdmissionRules(settings, key, facts, now).filter(isKeyRule);
  if (!isOpen) return checks;
  const message = `The entry key depends on what comes: ${template}`;
  return checks.map(({ rule, expected }) => ({ rule, passed: null, message, expected, actual: null }));
}

/** A full workflow has triggered runs wait for their turn, but refuses a firing by hand. */
export const capacityChecks = (ofWorkflow: AdmissionVerdict[]): ExplainCheck[] =>
  ofWorkflow
    .filter(({ rule, passed }) => rule === 'max_active_runs' && !passed)
    .map(({ rule, expected, actual }) => ({
      rule,
      passed: false,
      message: `${String(actual)} runs are active and settings.max_active_runs is ${String(expected)}; firing answers 409 until one ends`,
      expected,
      actual,
    }));
