import { readExample } from './examples.ts';

export const agentTest = { file: 'agent-test.json', actor: 'spring-offer', adversary: 'willing-customer' };

/** `config` of `POST /simtest/test-sessions`. */
export const readAgentTest = (): object => JSON.parse(readExample(agentTest.file)) as object;

/** What the tour reads of a test session. */
export interface TestSession {
  id: number;
  status: 'pending' | 'running' | 'completed' | 'failed' | 'stopped';
  error: string | null;
  results: {
    outcome: 'passed' | 'failed' | 'error';
    stop_reason: string;
    turns: number;
    latency_ms: { p50: number | null };
    checks: { name: string; passed: boolean | null; required: boolean; detail: string }[];
  } | null;
}

export const hasEnded = ({ status }: TestSession): boolean => status !== 'pending' && status !== 'running';

type Results = NonNullable<TestSession['results']>;

/** Each check in a line, with what was seen. */
export function describeChecks({ checks }: Results): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.map(({ name, passed, detail }) => `${verdict(passed).padEnd(9)}  ${name.padEnd(width)}  ${detail}`);
}

const verdict = (passed: boolean | null): string => (passed === null ? 'undecided' : passed ? 'passed' : 'FAILED');

export const describeEnd = ({ outcome, stop_reason, turns, latency_ms: { p50 } }: Results): string =>
  `${outcome}: ${stop_reason} after ${turns} turns, half of them within ${p50} ms`;
