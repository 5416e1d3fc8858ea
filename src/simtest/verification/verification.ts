import type { CheckResult, Outcome, SessionStatus } from '../contract.ts';

/** The state of one required test. */
export interface VerifiedTest {
  /** The index among the required tests, from 0. */
  index: number;
  /** Null: the test could not be run, and `error` says why. */
  test_session_id: number | null;
  adversary_workflow_id: number;
  status: SessionStatus;
  /** Null while the session goes on. */
  outcome: Outcome | null;
  error: string | null;
  checks: CheckResult[];
}

export interface Verification {
  /** Null: no test has failed, and not all have ended. */
  passed: boolean | null;
  tests: VerifiedTest[];
}

const maxDetailLength = 300;

export function toVerification(tests: VerifiedTest[]): Verification {
  if (tests.some((test) => hasEnded(test) && !hasPassed(test))) return { passed: false, tests };
  return { passed: tests.every(hasPassed) || null, tests };
}

/** At least one sentence about each test that has not passed. `waitSeconds` is how long the request has waited. */
export function describeFailures({ tests }: Verification, waitSeconds: number): string {
  const open = tests.filter((test) => !hasPassed(test));
  const sentences = open.map((test) => `required_tests.${test.index} (${describeSession(test)}) ${describeFailure(test, waitSeconds)}.`);
  return [`${open.length} of ${tests.length} required tests did not pass.`, ...sentences].join(' ');
}

const hasEnded = ({ status }: VerifiedTest): boolean => status !== 'pending' && status !== 'running';

/** A session that a person stopped proves nothing. */
const hasPassed = ({ status, outcome }: VerifiedTest): boolean => status === 'completed' && outcome === 'passed';

const describeSession = ({ test_session_id: id, adversary_workflow_id: adversaryId }: VerifiedTest): string =>
  `${id === null ? '' : `test session ${id} `}against voice agent ${adversaryId}`;

function describeFailure(test: VerifiedTest, waitSeconds: number): string {
  if (!hasEnded(test)) return `had not ended after ${waitSeconds} s, and goes on`;
  if (test.error !== null) return `ended in an error: ${truncate(test.error)}`;
  if (test.status === 'stopped') return 'was stopped';
  const failed = test.checks.filter(({ required, passed }) => required && passed === false);
  return `failed: ${failed.map(({ name, detail }) => `"${name}": ${truncate(detail)}`).join('; ')}`;
}

const truncate = (text: string): string => {
  const whole = text.replace(/[.\s]+$/, '');
  return whole.length > maxDetailLength ? `${whole.slice(0, maxDetailLength)} ...` : whole;
};
