import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CheckResult } from '../../src/simtest/contract.ts';
import { describeFailures, toVerification, type VerifiedTest } from '../../src/simtest/verification/verification.ts';

const verified = (change: Partial<VerifiedTest> = {}): VerifiedTest => ({
  index: 0,
  test_session_id: 41,
  adversary_workflow_id: 8,
  status: 'completed',
  outcome: 'passed',
  error: null,
  checks: [],
  ...change,
});
const running = verified({ status: 'running', outcome: null });
const ends = [
  verified(),
  verified({ outcome: 'failed' }),
  verified({ status: 'failed', outcome: 'error', error: 'No' }),
  verified({ status: 'stopped' }),
];
const check = (change: Partial<CheckResult>): CheckResult => ({
  name: 'Polite',
  passed: false,
  required: true,
  detail: 'not said',
  ...change,
});
const describeTests = (...tests: VerifiedTest[]) => describeFailures(toVerification(tests), 90);

test('passed are those alone that ended with the outcome passed: one that somebody stopped is not', () => {
  expect(ends.map((one) => toVerification([one]).passed)).toEqual([true, false, false, false]);
  expect(toVerification([running]).passed).toBeNull();
});

test('a verdict stays, however the open tests end', () => {
  const tests = fc.array(fc.record({ now: fc.constantFrom(...ends, running), later: fc.constantFrom(...ends) }), { minLength: 1 });
  fc.assert(
    fc.property(tests, (pairs) => {
      const first = toVerification(pairs.map(({ now }) => now)).passed;
      const last = toVerification(pairs.map(({ now, later }) => (now === running ? later : now))).passed;
      expect(last).not.toBeNull();
      if (first !== null) expect(last).toBe(first);
      expect(first === true).toBe(pairs.every(({ now }) => now === ends[0]));
    }),
  );
});

test('failures are listed test by test, by the failed required checks; passed tests are not', () => {
  const checks = [
    check({}),
    check({ name: 'Short', detail: '12 turns, at most 10' }),
    check({ name: 'Optional', required: false }),
    check({ name: 'Unknown', passed: null }),
    check({ name: 'Good', passed: true }),
  ];
  expect(describeTests(verified(), verified({ index: 1, outcome: 'failed', checks }))).toBe(
    '1 of 2 required tests did not pass. required_tests.1 (test session 41 against voice agent 8) failed: "Polite": not said; "Short": 12 turns, at most 10.',
  );
});

test('an error, a stop, a test that could not be run and one that goes on are named as such', () => {
  const text = describeTests(
    verified({ status: 'failed', outcome: 'error', error: 'The language model failed.' }),
    verified({ index: 1, status: 'stopped' }),
    verified({ index: 2, test_session_id: null, status: 'failed', outcome: 'error', error: 'agent_archived: No' }),
    { ...running, index: 3 },
  );
  expect(text).toBe(
    '4 of 4 required tests did not pass. required_tests.0 (test session 41 against voice agent 8) ended in an error: The language model failed. ' +
      'required_tests.1 (test session 41 against voice agent 8) was stopped. ' +
      'required_tests.2 (against voice agent 8) ended in an error: agent_archived: No. ' +
      'required_tests.3 (test session 41 against voice agent 8) had not ended after 90 s, and goes on.',
  );
});

test('a long detail is cut', () => {
  const text = describeTests(verified({ outcome: 'failed', checks: [check({ detail: 'x'.repeat(5_000) })] }));
  expect(text.length).toBeLessThan(600);
  expect(text).toMatch(/x \.\.\.\.$/);
});
