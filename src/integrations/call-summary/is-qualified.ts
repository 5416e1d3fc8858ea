import { isOptOut } from '../../contacts/suppressions/opt-out-words.ts';
import type { EndedCall } from './ended-call.ts';

/** What talks lead to of which nobody needs to hear. Whatever else an agent's own list of dispositions has counts. */
const unsuccessfulDispositions = new Set(['not_interested', 'wrong_person', 'unclear']);

/** Whether a person was reached, and the talk led to something: what `qualified_calls` tells of. */
export const isQualified = ({ outcome, disposition, tags }: Pick<EndedCall, 'outcome' | 'disposition' | 'tags'>): boolean =>
  outcome === 'completed' && disposition !== null && !unsuccessfulDispositions.has(disposition) && !isOptOut({ disposition, tags });
