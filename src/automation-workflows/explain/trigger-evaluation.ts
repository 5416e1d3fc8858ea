import type { ExplainCheck } from './schemas.ts';
import type { SampleEvent } from './sample-event.ts';

/** The result of evaluating the rules of one trigger's type for a contact. */
export interface TriggerEvaluation {
  /** What fires the trigger, as it is read after "would enter". */
  when: string;
  /** Describes the latest event or delivery; empty for types whose events are not stored. */
  latestText: string;
  checks: ExplainCheck[];
  sample: SampleEvent;
}

/** How the handling of an event or delivery went, in parentheses; empty when it was handled without note. */
export function deliveryStatus({ handled_at, note }: { handled_at: number | null; note: string | null }): string {
  if (note !== null) return ` (${note})`;
  return handled_at === null ? ' (not worked off yet)' : '';
}
