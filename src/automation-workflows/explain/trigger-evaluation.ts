import type { ExplainCheck } from './schemas.ts';
import type { SampleEvent } from './sample-event.ts';

/** What the rules of one trigger's type say of a contact. */
export interface TriggerEvaluation {
  /** What fires it, to be read after "would enter". */
  when: string;
  /** What of that there was last; empty for types of which none is kept. */
  latestText: string;
  checks: ExplainCheck[];
  sample: SampleEvent;
}

/** What became of something that came, from its record. */
export function deliveryStatus({ handled_at, note }: { handled_at: number | null; note: string | null }): string {
  if (note !== null) return ` (${note})`;
  return handled_at === null ? ' (not worked off yet)' : '';
}
