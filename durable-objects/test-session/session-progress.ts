import type { CheckResult, LiveSession, StopReason } from '../../src/simtest/contract.ts';

/** The progress of a session. Moments in epoch ms. */
export interface SessionProgress extends LiveSession {
  /** Why the conversation is over; null: the two talk. */
  stopReason: StopReason | null;
  talkEndedAt: number | null;
  /** How often the conversations were tried to be concluded. */
  conclusions: number;
  /** The statements that the language model has judged, and the tokens used. */
  judged: CheckResult[];
  judgeUsage: { prompt_tokens: number; completion_tokens: number };
  /** The last request of a person, by which its repetition is known. */
  lastAct: string;
}

export const newSessionProgress = (startedAt: number, lastAct: string): SessionProgress => ({
  status: 'running',
  results: null,
  error: null,
  startedAt,
  completedAt: null,
  stopReason: null,
  talkEndedAt: null,
  conclusions: 0,
  judged: [],
  judgeUsage: { prompt_tokens: 0, completion_tokens: 0 },
  lastAct,
});
