import type { Context } from '../accounts/context.ts';
import type { Issue } from '../library/errors.ts';
import { agentsWithDefinition, type AgentWithDefinition } from '../voice-agents/agents/existing-agent.ts';
import { soundDefinition, whyUnsound } from '../voice-agents/agents/soundness.ts';
import type { TestConfig } from './config.ts';
import type { Candidate } from './contract.ts';
import { readRequiredTest, type RequiredTest } from './required-tests.ts';
import { agentArchived } from './session-facts.ts';
import { testSessionObject } from './test-session-object.ts';
import { verificationOf, type Verification, type VerifiedTest } from './verification.ts';
import { insertVerification, verifiedRows, type VerifiedRow } from './verify-store.ts';

export interface ToVerify {
  agentId: number;
  name: string;
  /** How the agent is, or would be. */
  candidate: Candidate;
  tests: RequiredTest[];
}

interface RunnableTest {
  index: number;
  adversary: AgentWithDefinition;
  config: TestConfig;
}

/**
 * Runs all tests at once, each as a session, and waits for their ends, at most VERIFY_WAIT_SECONDS. What has not ended by then, or when this
 * breaks off, goes on and ends by itself.
 */
export async function verify(context: Context, { agentId, name, candidate, tests }: ToVerify): Promise<Verification> {
  const { database, organization, settings, clock } = context;
  const deadline = Date.now() + settings.VERIFY_WAIT_SECONDS * 1000;
  const { runnable, broken } = await sorted(context, candidate, tests);
  const begun = await insertVerification(
    database,
    organization.id,
    {
      actorAgentId: agentId,
      candidate,
      tests: runnable.map(({ index, adversary, config }) => ({
        index,
        name: `Verify ${name} #${index + 1}`,
        adversaryAgentId: adversary.id,
        config,
      })),
    },
    clock(),
  );
  const sessionIds = new Map(begun.map(({ id, index }) => [index, id]));
  await Promise.all(begun.map(({ id }) => ended(context, id, deadline)));
  const rows = new Map((await verifiedRows(database, organization.id, [...sessionIds.values()])).map((row) => [row.id, row]));
  const ran = runnable.map(({ index, adversary }) => {
    const row = rows.get(sessionIds.get(index) ?? 0);
    return row ? verifiedTest(index, adversary.id, row) : notRun(index, adversary.id, agentArchived(adversary));
  });
  return verificationOf([...ran, ...broken].toSorted((one, other) => one.index - other.index));
}

/** What can be run, and what has come to be wrong since it was configured: an agent was changed. */
async function sorted(
  context: Context,
  candidate: Candidate,
  tests: RequiredTest[],
): Promise<{ runnable: RunnableTest[]; broken: VerifiedTest[] }> {
  const adversaries = await agentsWithDefinition(
    context,
    tests.map(({ adversary_workflow_id: id }) => id),
  );
  const actor = await soundDefinition(context, candidate.definition);
  const runnable: RunnableTest[] = [];
  const broken: VerifiedTest[] = [];
  for (const [index, test] of tests.entries()) {
    const adversary = adversaries.get(test.adversary_workflow_id);
    const unsound = adversary && (await whyUnsound(context, adversary.workflow_definition, adversary.id));
    const read = readRequiredTest(test, actor, adversary && (await soundDefinition(context, adversary.workflow_definition)), []);
    if (unsound) broken.push(notRun(index, test.adversary_workflow_id, `agent_unsound: ${unsound}`));
    else if ('config' in read) runnable.push({ index, adversary: adversary!, config: read.config });
    else broken.push(notRun(index, test.adversary_workflow_id, `The test does not fit its agents any more: ${told(read.issues)}`));
  }
  return { runnable, broken };
}

const told = (issues: Issue[]): string => issues.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');

/** Has a session begin and waits for its end, of which its row tells. */
async function ended({ bindings, organization, log }: Context, id: number, deadline: number): Promise<void> {
  try {
    await testSessionObject(bindings, organization.id, id, async (object) => {
      await object.poke(organization.id, id);
      await object.untilEnded(Math.max(0, deadline - Date.now()));
    });
  } catch (error) {
    log.error('the session of a verification could not be waited for', error, { test_session_id: id });
  }
}

const verifiedTest = (index: number, adversaryId: number, { id, status, results, error }: VerifiedRow): VerifiedTest => ({
  index,
  test_session_id: id,
  adversary_workflow_id: adversaryId,
  status,
  outcome: results?.outcome ?? null,
  error,
  checks: results?.checks ?? [],
});

const notRun = (index: number, adversaryId: number, error: string): VerifiedTest => ({
  index,
  test_session_id: null,
  adversary_workflow_id: adversaryId,
  status: 'failed',
  outcome: 'error',
  error,
  checks: [],
});
