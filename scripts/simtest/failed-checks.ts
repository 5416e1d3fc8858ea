import type { Session } from './load-tests.ts';

/** A check that did not hold in some sessions. */
export interface FailedCheck {
  name: string;
  required: boolean;
  failed: number;
  /** Where nobody can say whether it holds. */
  untold: number;
  /** The first session in which it did not hold, or could not be told. */
  sessionId: number;
}

/** Checks that did not hold or could not be told in some of the sessions, those that failed most often first. */
export function listFailedChecks(sessions: Session[]): FailedCheck[] {
  const found = new Map<string, FailedCheck>();
  for (const { id: sessionId, results } of sessions.toSorted((one, other) => one.id - other.id)) {
    for (const { name, required, passed } of results?.checks ?? []) {
      if (passed === true) continue;
      const known = found.get(name) ?? { name, required, failed: 0, untold: 0, sessionId };
      found.set(name, known);
      if (passed === null) known.untold += 1;
      else if (known.failed++ === 0) known.sessionId = sessionId;
    }
  }
  return [...found.values()].toSorted((one, other) => other.failed - one.failed || other.untold - one.untold);
}
