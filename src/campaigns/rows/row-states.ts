/** A `scheduled` row waits for a moment: a retry, a calling window. `dialing`: the call is placed or rings. `in_call`: it was answered. The last three states are final. */
export const rowStates = ['pending', 'scheduled', 'dialing', 'in_call', 'completed', 'failed', 'skipped'] as const;
export type RowState = (typeof rowStates)[number];

const transitions: Record<RowState, readonly RowState[]> = {
  pending: ['scheduled', 'dialing', 'failed', 'skipped'],
  scheduled: ['pending', 'dialing', 'failed', 'skipped'],
  // To pending: withdrawn by a pause, or held because the carrier refuses every call.
  dialing: ['pending', 'scheduled', 'in_call', 'completed', 'failed', 'skipped'],
  // To scheduled: an answering machine may be recognized only after it has answered.
  in_call: ['scheduled', 'completed', 'failed'],
  completed: [],
  failed: [],
  skipped: [],
};

export const canTransition = (from: RowState, to: RowState): boolean => transitions[from].includes(to);
export const isTerminal = (state: RowState): boolean => transitions[state].length === 0;

/** How many rows are in each state. */
export type Tally = Record<RowState, number>;

export const emptyTally = (): Tally => ({ pending: 0, scheduled: 0, dialing: 0, in_call: 0, completed: 0, failed: 0, skipped: 0 });

/** The counts of a campaign record. total_rows = waiting rows + in_flight + processed_rows; processed_rows = the rows in a final state. */
export interface RowCounts {
  total_rows: number;
  processed_rows: number;
  completed_rows: number;
  failed_rows: number;
  skipped_rows: number;
  in_flight: number;
}

export function toRowCounts(tally: Tally): RowCounts {
  const { pending, scheduled, dialing, in_call, completed, failed, skipped } = tally;
  const processed = completed + failed + skipped;
  return {
    total_rows: pending + scheduled + dialing + in_call + processed,
    processed_rows: processed,
    completed_rows: completed,
    failed_rows: failed,
    skipped_rows: skipped,
    in_flight: dialing + in_call,
  };
}
