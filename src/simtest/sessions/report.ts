import type { LiveSession, SessionFacts, SessionReport, TestTurn } from '../contract.ts';

/** What the load test of an ended session is told. */
export const toSessionReport = ({ sessionId, testIndex }: SessionFacts, live: LiveSession, turns: readonly TestTurn[]): SessionReport => ({
  sessionId,
  testIndex: testIndex ?? 0,
  status: live.status as SessionReport['status'],
  outcome: live.results?.outcome ?? null,
  error: live.error,
  durationMs: Math.round((live.results?.duration_seconds ?? 0) * 1000),
  latenciesMs: turns.map(({ latencyMs }) => latencyMs),
});
