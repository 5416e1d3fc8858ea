import type { TestTurn } from '../contract.ts';

/** What was said in a session, as its object tells it and as R2 keeps it afterwards. Moments in epoch ms. */
export interface SessionTranscript {
  turns: TestTurn[];
  startedAt: number;
  /** Null while they talk. */
  endedAt: number | null;
}

/** Where R2 keeps it. */
export const sessionTranscriptKey = (organizationId: number, sessionId: number): string =>
  `simtest/${organizationId}/${sessionId}/conversation.json`;
