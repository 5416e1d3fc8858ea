import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../context.ts';
import { invalid, type Issue } from '../../library/errors.ts';
import type { RequiredTest, TestedAgent } from '../../voice-agents/agents/change-gate.ts';
import { parseRequiredTests } from '../../voice-agents/agents/configurations.ts';
import { loadAgentsWithDefinition } from '../../voice-agents/agents/find-agents.ts';
import { parseSoundDefinition } from '../../voice-agents/agents/soundness.ts';
import type { AgentDefinition } from '../../voice-agents/definition/definition.ts';
import { parseRequiredTest } from './required-tests.ts';

const requiredTestsPath = ['body', 'workflow_configurations', 'required_tests'];

/**
 * Throws 422 for required tests that cannot be run, or that name what the agents do not have. An agent that is not sound is compared with
 * nothing. Tests that stay as they were in `before` are refused only for what the change itself makes wrong, since another agent may have been
 * changed behind them.
 */
export async function requireRunnableTests(context: Context, after: TestedAgent, before: TestedAgent | null): Promise<void> {
  const tests = parseRequiredTests(after);
  const isKept = before !== null && isDeepStrictEqual(tests, parseRequiredTests(before));
  if (tests.length === 0 || (isKept && isDeepStrictEqual(after.workflow_definition, before.workflow_definition))) return;
  const agents = await loadAgentsWithDefinition(
    context,
    tests.map(({ adversary_workflow_id: id }) => id),
  );
  const adversaries = new Map<number, AgentDefinition | null>();
  for (const [id, { workflow_definition: stored }] of agents) adversaries.set(id, await parseSoundDefinition(context, stored));
  const issuesWith = async ({ workflow_definition: stored }: TestedAgent): Promise<Issue[]> =>
    findRequiredTestIssues(tests, await parseSoundDefinition(context, stored), adversaries);
  const known = new Set(isKept ? (await issuesWith(before)).map(({ loc }) => loc.join('\n')) : []);
  const issues = (await issuesWith(after)).filter(({ loc }) => !known.has(loc.join('\n')));
  if (issues.length > 0) throw invalid(issues);
}

function findRequiredTestIssues(
  tests: RequiredTest[],
  actor: AgentDefinition | null,
  adversaries: Map<number, AgentDefinition | null>,
): Issue[] {
  return tests.flatMap((test, index) => {
    const read = parseRequiredTest(test, actor, adversaries.get(test.adversary_workflow_id), [...requiredTestsPath, String(index)]);
    return 'issues' in read ? read.issues : [];
  });
}
