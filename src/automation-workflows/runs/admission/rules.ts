import { toTimestamp } from '../../../library/time/clock.ts';
import { addExact, parseDuration } from '../../../library/time/durations.ts';
import type { WorkflowSettings } from '../../definitions/settings.ts';
import type { AdmissionFacts } from './store.ts';

/** The rules of a workflow that can refuse a run. */
export type AdmissionRule = 'status' | 'reentry' | 'one_live_run_per_key' | 'max_active_runs';

/** The result of one rule: the value it allows, the value found, and both in a sentence. */
export interface AdmissionVerdict {
  rule: AdmissionRule;
  passed: boolean;
  expected: unknown;
  actual: unknown;
  message: string;
}

type Facts = Omit<AdmissionFacts, 'dedup_key'>;

/** The verdict of every admission rule that the workflow has, in the order in which the rules apply. `now` in epoch ms. */
export function evaluateAdmissionRules(settings: WorkflowSettings, entryKey: string | null, facts: Facts, now: number): AdmissionVerdict[] {
  return [
    evaluateStatusRule(facts),
    ...(settings.reentry.mode === 'always' ? [] : [evaluateReentryRule(settings, entryKey, facts, now)]),
    ...(settings.one_live_run_per_key ? [evaluateSoleRule(entryKey, facts)] : []),
    ...(settings.max_active_runs === null ? [] : [evaluateMaxActiveRule(settings.max_active_runs, facts)]),
  ];
}

function evaluateStatusRule({ workflow_status, trigger_state }: Facts): AdmissionVerdict {
  const actual = workflow_status !== 'active' ? workflow_status : (trigger_state ?? 'active');
  const what = workflow_status === 'active' && trigger_state !== null ? 'trigger' : 'workflow';
  return {
    rule: 'status',
    passed: actual === 'active',
    expected: 'active',
    actual,
    message: `The ${what} is ${actual}${actual === 'active' ? '' : '; only an active one starts runs'}`,
  };
}

function evaluateReentryRule({ reentry }: WorkflowSettings, entryKey: string | null, facts: Facts, now: number): AdmissionVerdict {
  const { entered_at: enteredAt, entered_run_id: runId } = facts;
  const base = {
    rule: 'reentry' as const,
    expected: reentry,
    actual: enteredAt === null ? null : { entered_at: toTimestamp(enteredAt), run_id: runId },
  };
  if (entryKey === null) return { ...base, passed: true, message: 'The run has no entry key, so no earlier entry can stand against it' };
  const key = JSON.stringify(entryKey);
  if (enteredAt === null) return { ...base, passed: true, message: `Entry key ${key} has not entered before` };
  const entered = `Entry key ${key} entered at ${toTimestamp(enteredAt)} (run ${runId})`;
  if (reentry.mode === 'never') return { ...base, passed: false, message: `${entered}, and settings.reentry lets a key enter once only` };
  const again = addExact(enteredAt, parseDuration(reentry.after!));
  const passed = again <= now;
  return {
    ...base,
    passed,
    message: `${entered} and may enter again ${passed ? 'since' : 'from'} ${toTimestamp(again)} (settings.reentry after ${reentry.after})`,
  };
}

function evaluateSoleRule(entryKey: string | null, { sole_run_id: runId }: Facts): AdmissionVerdict {
  const base = {
    rule: 'one_live_run_per_key' as const,
    expected: 'no other live run with the key',
    actual: runId === null ? null : { run_id: runId },
  };
  if (entryKey === null) return { ...base, passed: true, message: 'The run has no entry key, so it is alone of its kind' };
  const key = JSON.stringify(entryKey);
  if (runId === null) return { ...base, passed: true, message: `No live run has entry key ${key}` };
  return {
    ...base,
    passed: false,
    message: `Run ${runId} with entry key ${key} is live, and settings.one_live_run_per_key allows one at a time`,
  };
}

function evaluateMaxActiveRule(maximum: number, { admitted_runs: admitted }: Facts): AdmissionVerdict {
  const passed = admitted < maximum;
  return {
    rule: 'max_active_runs',
    passed,
    expected: maximum,
    actual: admitted,
    message: passed
      ? `${admitted} of ${maximum} runs are active (settings.max_active_runs)`
      : `${admitted} runs are active and settings.max_active_runs is ${maximum}; a triggered run waits in state queued until one ends, execute and fire are to be tried again then`,
  };
}
