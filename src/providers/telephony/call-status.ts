/** The status of a line, in the same words for all carriers. */
export type CallStatus = 'queued' | 'initiated' | 'ringing' | 'answered' | 'completed' | 'busy' | 'no_answer' | 'failed' | 'cancelled';

const ranks: Record<CallStatus, number> = {
  queued: 0,
  initiated: 1,
  ringing: 2,
  answered: 3,
  completed: 4,
  busy: 4,
  no_answer: 4,
  failed: 4,
  cancelled: 4,
};
const terminalRank = 4;

/** The order of a status: a call only moves to a status of a higher rank. */
export const rankOf = (status: CallStatus): number => ranks[status];

/** Whether the line has ended. Later reports of the carrier on it change nothing. */
export const isTerminal = (status: CallStatus): boolean => ranks[status] === terminalRank;

/** Whether a report changes the status of a call. Reports come twice and out of order; of two terminal reports the first counts. */
export const isForward = (from: CallStatus, to: CallStatus): boolean => ranks[to] > ranks[from];
