import type { Session } from './load-tests.ts';

/** A check that did not hold in some sessions. */
export interface FailedCheck {
  name: string;
  required: boolean;
  failed: number;
  /** Sessions in which the check had no verdict. */
  undecided: number;
  /** The first session in which the check did not hold or had no verdict. */
  sessionId: number;
}

/** Checks that did not hold or had no verdict in some of the sessions, the most frequent failures first. */
export function listFailedChecks(sessions: Session[]): FailedCheck[] {
  const found = new Map<string, FailedCheck>();
  for (const { id: sessionId, results } of sessions.toSorted((one, other) => one.id - other.id)) {
    for (const { name, required, passed } of results?.checks ?? []) {
      if (passed === true) continue;
      const known = found.get(name) ?? { name, required, failed: 0, undecided: 0, sessionId };
      found.set(name, known);
      if (passed === null) known.undecided += 1;
      else if (known.failed++ === 0) known.sessionId = sessionId;
    }
  }
  return [...found.values()].toSorted((one, other) => other.failed - one.failed || other.undecided - one.undecided);
}
