import { verdicts, type Verdict } from '../runs/admission.ts';
import type { AdmissionFacts } from '../runs/admission-store.ts';
import { entryKeyOf } from '../runs/entry-key.ts';
import type { ExplainCheck } from '../schemas.ts';
import type { WorkflowSettings } from '../settings.ts';
import { EvaluationError } from '../templates.ts';
import type { TriggerRow } from '../triggers/store.ts';
import { isCertain } from './decide.ts';
import type { Occasion } from './occasion.ts';

/** The entry key of a run; `isOpen`: it depends on what comes; `problem`: it cannot be rendered. */
export type EntryKey = { key: string | null; isOpen?: boolean; problem?: string };

/** `template`: the trigger's or the workflow's; null: the contact's id. */
export function entryKeyFor(template: string | null, occasion: Occasion, contactId: number): EntryKey {
  if (template && !isCertain(occasion.certain, template)) return { key: null, isOpen: true };
  try {
    return { key: entryKeyOf(template, occasion.scope, contactId, null) };
  } catch (error) {
    if (error instanceof EvaluationError) return { key: null, problem: error.message };
    throw error;
  }
}

const isOfKey = ({ rule }: Verdict): boolean => rule === 'reentry' || rule === 'one_live_run_per_key';

/** Whether the workflow is active and has room. `now` in epoch ms. */
export const workflowVerdicts = (settings: WorkflowSettings, facts: AdmissionFacts, now: number): Verdict[] =>
  verdicts(settings, null, { ...facts, trigger_state: null }, now).filter((verdict) => !isOfKey(verdict));

/** Whether the trigger is active, whatever its workflow is. */
export const triggerVerdicts = (settings: WorkflowSettings, { state }: TriggerRow, facts: AdmissionFacts, now: number): Verdict[] =>
  verdicts(settings, null, { ...facts, workflow_status: 'active', trigger_state: state }, now).filter(({ rule }) => rule === 'status');

/** Whether the workflow's rules let the key in. `facts` are the key's. */
export function keyChecks(
  settings: WorkflowSettings,
  template: string | null,
  { key, isOpen, problem }: EntryKey,
  facts: AdmissionFacts,
  now: number,
): ExplainCheck[] {
  if (problem !== undefined) return [{ rule: 'entry_key', passed: false, message: problem, expected: template, actual: null }];
  const checks = verdicts(settings, key, facts, now).filter(isOfKey);
  if (!isOpen) return checks;
  const message = `The entry key depends on what comes: ${template}`;
  return checks.map(({ rule, expected }) => ({ rule, passed: null, message, expected, actual: null }));
}

/** A full workflow has triggered runs wait for their turn, but refuses a firing by hand. */
export const firingChecks = (ofWorkflow: Verdict[]): ExplainCheck[] =>
  ofWorkflow
    .filter(({ rule, passed }) => rule === 'max_active_runs' && !passed)
    .map(({ rule, expected, actual }) => ({
      rule,
      passed: false,
      message: `${String(actual)} runs are active and settings.max_active_runs is ${String(expected)}; firing answers 409 until one ends`,
      expected,
      actual,
    }));
