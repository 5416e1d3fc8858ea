import type { ExplainCheck, Explanation } from './schemas.ts';
import type { TriggerRow } from '../triggers/store.ts';
import { allOf } from './partial-evaluation.ts';

/** A trigger with all its checks; `when` as in `TriggerEvaluation`. */
export interface EvaluatedTrigger {
  trigger: Pick<TriggerRow, 'id' | 'type' | 'name'>;
  when: string;
  entryKey: string | null;
  checks: ExplainCheck[];
}

/** Whether the trigger would start a run of the contact if its workflow were active; null: it depends on unknown values. */
export const wouldFire = ({ checks }: Pick<EvaluatedTrigger, 'checks'>): boolean | null => allOf(checks.map(({ passed }) => passed));

/** The summary speaks of one trigger: the first that would fire, else the first that may, else the first. */
export function summarize(
  workflowChecks: ExplainCheck[],
  triggers: EvaluatedTrigger[],
): Pick<Explanation, 'would_enter' | 'summary' | 'stopped_by' | 'entry_key'> {
  const best = [true, null, false].flatMap((fires) => triggers.find((one) => wouldFire(one) === fires) ?? [])[0];
  const entry_key = best?.entryKey ?? null;
  const full = workflowChecks.find(({ rule, passed }) => rule === 'max_active_runs' && !passed);
  const stop = workflowChecks.find((check) => check !== full && !check.passed);
  if (stop) return { would_enter: false, summary: stop.message, stopped_by: stop.rule, entry_key };
  const { trigger, when, checks } = best!;
  const name = `trigger ${trigger.id} ${JSON.stringify(trigger.name)} (${trigger.type})`;
  const fires = wouldFire(best!);
  if (fires) {
    const remark = full ? `, and wait for its turn: ${full.message}` : '';
    return { would_enter: true, summary: `Would enter by ${name} ${when}${remark}`, stopped_by: null, entry_key };
  }
  const first = checks.find(({ passed }) => passed === fires)!;
  const byAny = triggers.length > 1 ? ` by any of ${triggers.length} triggers;` : '';
  const words = fires === null ? 'May enter' : `Would not enter${byAny}`;
  return { would_enter: false, summary: `${words} by ${name}: ${first.message}`, stopped_by: first.rule, entry_key };
}
