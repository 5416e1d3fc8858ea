/** What the line does or did, in one language for all carriers. */
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

export const rankOf = (status: CallStatus): number => ranks[status];

/** Whether the line has ended; what the carrier reports afterwards of it changes nothing. */
export const isTerminal = (status: CallStatus): boolean => ranks[status] === terminalRank;

/** Whether a report moves a call on. Reports come repeated and out of order; of two terminal ones the first is right. */
export const isForward = (from: CallStatus, to: CallStatus): boolean => ranks[to] > ranks[from];
