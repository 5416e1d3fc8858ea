import type { Context } from '../../context.ts';
import type { Issue } from '../../library/errors.ts';
import { type AgentWithDefinition, loadAgentsWithDefinition } from '../../voice-agents/agents/find-agents.ts';
import { explainUnsound, parseSoundDefinition } from '../../voice-agents/agents/soundness.ts';
import type { TestConfig } from '../config/config.ts';
import type { Candidate } from '../contract.ts';
import type { RequiredTest } from '../../voice-agents/agents/change-gate.ts';
import { parseRequiredTest } from './required-tests.ts';
import { agentArchivedMessage } from '../sessions/load-session.ts';
import { callTestSessionObject } from '../sessions/rpc.ts';
import { toVerification, type Verification, type VerifiedTest } from './verification.ts';
import { findVerifiedRows, insertVerification, type VerifiedRow } from './store.ts';

export interface VerificationRequest {
  agentId: number;
  name: string;
  /** The agent as it is, or as a change would make it. */
  candidate: Candidate;
  tests: RequiredTest[];
}

interface RunnableTest {
  index: number;
  adversary: AgentWithDefinition;
  config: TestConfig;
}

/**
 * Runs all tests at the same time, each as a session, and waits for their ends, at most VERIFY_WAIT_SECONDS. A session that has not ended by then,
 * or when the request breaks off, goes on and ends by itself.
 */
export async function runVerification(context: Context, { agentId, name, candidate, tests }: VerificationRequest): Promise<Verification> {
  const { database, organization, settings, clock } = context;
  const deadline = Date.now() + settings.VERIFY_WAIT_SECONDS * 1000;
  const { runnable, broken } = await partitionTests(context, candidate, tests);
  const started = await insertVerification(
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
  const sessionIds = new Map(started.map(({ id, index }) => [index, id]));
  await Promise.all(started.map(({ id }) => waitForEnd(context, id, deadline)));
  const rows = new Map((await findVerifiedRows(database, organization.id, [...sessionIds.values()])).map((row) => [row.id, row]));
  const ran = runnable.map(({ index, adversary }) => {
    const row = rows.get(sessionIds.get(index) ?? 0);
    return row ? toVerifiedTest(index, adversary.id, row) : toNotRun(index, adversary.id, agentArchivedMessage(adversary));
  });
  return toVerification([...ran, ...broken].toSorted((one, other) => one.index - other.index));
}

/** Separates the tests that can be run from those that a later change of an agent has broken. */
async function partitionTests(
  context: Context,
  candidate: Candidate,
  tests: RequiredTest[],
): Promise<{ runnable: RunnableTest[]; broken: VerifiedTest[] }> {
  const adversaries = await loadAgentsWithDefinition(
    context,
    tests.map(({ adversary_workflow_id: id }) => id),
  );
  const actor = await parseSoundDefinition(context, candidate.definition);
  const runnable: RunnableTest[] = [];
  const broken: VerifiedTest[] = [];
  for (const [index, test] of tests.entries()) {
    const adversary = adversaries.get(test.adversary_workflow_id);
    const unsound = adversary && (await explainUnsound(context, adversary.workflow_definition, adversary.id));
    const parsed = parseRequiredTest(test, actor, adversary && (await parseSoundDefinition(context, adversary.workflow_definition)), []);
    if (unsound) broken.push(toNotRun(index, test.adversary_workflow_id, `agent_unsound: ${unsound}`));
    else if ('config' in parsed) runnable.push({ index, adversary: adversary!, config: parsed.config });
    else
      broken.push(toNotRun(index, test.adversary_workflow_id, `The test does not fit its agents any more: ${formatIssues(parsed.issues)}`));
  }
  return { runnable, broken };
}

const formatIssues = (issues: Issue[]): string => issues.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');

/** Starts a session and waits until its row shows its end. */
async function waitForEnd({ bindings, organization, log }: Context, id: number, deadline: number): Promise<void> {
  try {
    await callTestSessionObject(bindings, organization.id, id, async (object) => {
      await object.wakeStalled(organization.id, id);
      await object.waitForEnd(Math.max(0, deadline - Date.now()));
    });
  } catch (error) {
    log.error('the session of a verification could not be waited for', error, { test_session_id: id });
  }
}

const toVerifiedTest = (index: number, adversaryId: number, { id, status, results, error }: VerifiedRow): VerifiedTest => ({
  index,
  test_session_id: id,
  adversary_workflow_id: adversaryId,
  status,
  outcome: results?.outcome ?? null,
  error,
  checks: results?.checks ?? [],
});

const toNotRun = (index: number, adversaryId: number, error: string): VerifiedTest => ({
  index,
  test_session_id: null,
  adversary_workflow_id: adversaryId,
  status: 'failed',
  outcome: 'error',
  error,
  checks: [],
});
