import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../accounts/context.ts';
import { invalid, type Issue } from '../../library/errors.ts';
import { readRequiredTest, type RequiredTest } from '../../simtest/required-tests.ts';
import { parseAgentDefinition, type AgentDefinition } from '../definition/definition.ts';
import type { AgentWithDefinition } from './agent-store.ts';
import { configurationsOf } from './configurations.ts';
import { agentsWithDefinition } from './existing-agent.ts';

/** What an agent is tested by, and what is tested. */
export type Tested = Pick<AgentWithDefinition, 'workflow_definition' | 'workflow_configurations'>;

const at = ['body', 'workflow_configurations', 'required_tests'];

export const requiredTestsOf = ({ workflow_configurations: stored }: Pick<Tested, 'workflow_configurations'>): RequiredTest[] =>
  configurationsOf(stored).required_tests;

/**
 * Throws 422 for required tests that cannot be run, or name what the agents do not have. Tests that stay as they were `before` are
 * refused only for what the change itself makes wrong, since another agent may have been changed behind them.
 */
export async function requireSoundTests(context: Context, after: Tested, before: Tested | null): Promise<void> {
  const tests = requiredTestsOf(after);
  const isKept = before !== null && isDeepStrictEqual(tests, requiredTestsOf(before));
  if (tests.length === 0 || (isKept && isDeepStrictEqual(after.workflow_definition, before.workflow_definition))) return;
  const agents = await agentsWithDefinition(
    context,
    tests.map(({ adversary_workflow_id: id }) => id),
  );
  const adversaries = new Map([...agents].map(([id, { workflow_definition: stored }]) => [id, parseAgentDefinition(stored)]));
  const known = new Set(isKept ? issuesOf(tests, before, adversaries).map(({ loc }) => loc.join('\n')) : []);
  const issues = issuesOf(tests, after, adversaries).filter(({ loc }) => !known.has(loc.join('\n')));
  if (issues.length > 0) throw invalid(issues);
}

function issuesOf(tests: RequiredTest[], { workflow_definition: stored }: Tested, adversaries: Map<number, AgentDefinition>): Issue[] {
  const actor = parseAgentDefinition(stored);
  return tests.flatMap((test, index) => {
    const read = readRequiredTest(test, actor, adversaries.get(test.adversary_workflow_id), [...at, String(index)]);
    return 'issues' in read ? read.issues : [];
  });
}
