import { evaluateAdmissionRules, type AdmissionVerdict } from '../runs/admission/rules.ts';
import type { AdmissionFacts } from '../runs/admission/store.ts';
import type { ExplainCheck } from './schemas.ts';
import type { WorkflowSettings } from '../definitions/settings.ts';
import { EvaluationError } from '../../expressions/templates/render.ts';
import type { TriggerRow } from '../triggers/store.ts';
import { isKnown } from './partial-evaluation.ts';
import type { SampleEvent } from './sample-event.ts';
import { renderEntryKey } from '../runs/cause.ts';

/** The entry key of a run. `isUnknown`: the key depends on unknown values. `problem`: why the template cannot be rendered. */
export type EntryKeyResult = { key: string | null; isUnknown?: boolean; problem?: string };

/** Renders the entry key. `template` is the trigger's or the workflow's; null means the contact's id. */
export function evaluateEntryKey(template: string | null, sample: SampleEvent, contactId: number): EntryKeyResult {
  if (template && !isKnown(sample.knownRoots, template)) return { key: null, isUnknown: true };
  try {
    return { key: renderEntryKey(template, sample.scope, contactId, null) };
  } catch (error) {
    if (error instanceof EvaluationError) return { key: null, problem: error.message };
    throw error;
  }
}

const isKeyRule = ({ rule }: AdmissionVerdict): boolean => rule === 'reentry' || rule === 'one_live_run_per_key';

/** The verdicts on the workflow as a whole: whether it is active, and below `max_active_runs`. `now` in epoch ms. */
export const workflowVerdicts = (settings: WorkflowSettings, facts: AdmissionFacts, now: number): AdmissionVerdict[] =>
  evaluateAdmissionRules(settings, null, { ...facts, trigger_state: null }, now).filter((verdict) => !isKeyRule(verdict));

/** The verdict on the trigger's own state, as if its workflow were active. */
export const triggerVerdicts = (
  settings: WorkflowSettings,
  { state }: TriggerRow,
  facts: AdmissionFacts,
  now: number,
): AdmissionVerdict[] =>
  evaluateAdmissionRules(settings, null, { ...facts, workflow_status: 'active', trigger_state: state }, now).filter(
    ({ rule }) => rule === 'status',
  );

/** Whether the rules of re-entry and of one live run a key admit the entry key. `facts` are those of the key. `now` in epoch ms. */
export function keyChecks(
  settings: WorkflowSettings,
  template: string | null,
  { key, isUnknown, problem }: EntryKeyResult,
  facts: AdmissionFacts,
  now: number,
): ExplainCheck[] {
  if (problem !== undefined) return [{ rule: 'entry_key', passed: false, message: problem, expected: template, actual: null }];
  const checks = evaluateAdmissionRules(settings, key, facts, now).filter(isKeyRule);
  if (!isUnknown) return checks;
  const message = `The entry key depends on what comes: ${template}`;
  return checks.map(({ rule, expected }) => ({ rule, passed: null, message, expected, actual: null }));
}

/** When a workflow has `max_active_runs` runs, triggered runs wait for their turn, but a manual firing is refused with 409. */
export const capacityChecks = (verdicts: AdmissionVerdict[]): ExplainCheck[] =>
  verdicts
    .filter(({ rule, passed }) => rule === 'max_active_runs' && !passed)
    .map(({ rule, expected, actual }) => ({
      rule,
      passed: false,
      message: `${String(actual)} runs are active and settings.max_active_runs is ${String(expected)}; firing answers 409 until one ends`,
      expected,
      actual,
    }));
