import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../accounts/context.ts';
import { invalid, type Issue } from '../../library/errors.ts';
import { readRequiredTest, type RequiredTest } from '../../simtest/required-tests.ts';
import type { AgentDefinition } from '../definition/definition.ts';
import type { AgentWithDefinition } from './agent-store.ts';
import { configurationsOf } from './configurations.ts';
import { agentsWithDefinition } from './existing-agent.ts';
import { soundDefinition } from './soundness.ts';

/** What an agent is tested by, and what is tested. */
export type Tested = Pick<AgentWithDefinition, 'workflow_definition' | 'workflow_configurations'>;

const at = ['body', 'workflow_configurations', 'required_tests'];

export const requiredTestsOf = ({ workflow_configurations: stored }: Pick<Tested, 'workflow_configurations'>): RequiredTest[] =>
  configurationsOf(stored).required_tests;

/**
 * Throws 422 for required tests that cannot be run, or name what the agents do not have. With an agent that is not sound nothing is compared. Tests that stay as they were `before` are
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
  const adversaries = new Map<number, AgentDefinition | null>();
  for (const [id, { workflow_definition: stored }] of agents) adversaries.set(id, await soundDefinition(context, stored));
  const issuesWith = async ({ workflow_definition: stored }: Tested): Promise<Issue[]> =>
    issuesOf(tests, await soundDefinition(context, stored), adversaries);
  const known = new Set(isKept ? (await issuesWith(before)).map(({ loc }) => loc.join('\n')) : []);
  const issues = (await issuesWith(after)).filter(({ loc }) => !known.has(loc.join('\n')));
  if (issues.length > 0) throw invalid(issues);
}

function issuesOf(tests: RequiredTest[], actor: AgentDefinition | null, adversaries: Map<number, AgentDefinition | null>): Issue[] {
  return tests.flatMap((test, index) => {
    const read = readRequiredTest(test, actor, adversaries.get(test.adversary_workflow_id), [...at, String(index)]);
    return 'issues' in read ? read.issues : [];
  });
}
