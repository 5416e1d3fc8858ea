import type { Context } from '../../context.ts';
import { enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import { retryOnConflict } from '../../database/compare-and-set.ts';
import { conflict, invalidAt } from '../../library/errors.ts';
import { publish } from '../../outbox/published-events.ts';
import { type AgentFields, type AgentStatus, type AgentWithDefinition, type NewAgent, updateAgent } from './store.ts';
import { existingAgentWithDefinition, requireActive } from './find-agents.ts';
import { applyAgentChange, prepareChange } from './prepare-change.ts';
import { agentChangeGate } from './change-gate.ts';
import { parseRequiredTests } from './configurations.ts';
import { haveSettingsChanged, type VersionContent } from './version-content.ts';
import { requireSound } from './soundness.ts';
import { definitionPath } from '../definition/issues.ts';

/**
 * Changes the given fields. A change of what calls use is a new version: later runs use it, earlier runs keep theirs. Throws 404, 422, and 409
 * when other requests keep changing the agent.
 */
export const changeAgent = (context: Context, id: number, input: Partial<NewAgent>): Promise<AgentWithDefinition> =>
  updateUntilCurrent(context, id, (row) => prepareChange(context, row, input));

/**
 * Gives an agent the content of an earlier version again, whose definition is opened, as a new version. Content that equals the present one
 * changes nothing. Throws as `changeAgent`.
 */
export const restoreContent = (context: Context, id: number, content: VersionContent, restoredFrom: number): Promise<AgentWithDefinition> =>
  updateUntilCurrent(context, id, async (row) => {
    const { required_tests } = row.workflow_configurations;
    const input = {
      ...content,
      call_disposition_codes: content.call_disposition_codes as Record<string, string>,
      workflow_configurations: { ...content.workflow_configurations, required_tests: required_tests ?? null },
    };
    const change = await prepareChange(context, row, input, {});
    const isSame = change.definition === undefined && !haveSettingsChanged(row, applyAgentChange(row, change));
    return isSame ? {} : { ...change, restored_from: restoredFrom };
  });

/**
 * Archives or restores an agent, and publishes `agent.archived`. Repeatable: a repeat does what a crash left undone. Throws 404, and 409 where the
 * plan has no room for another active agent.
 */
export async function setAgentStatus(context: Context, id: number, status: AgentStatus): Promise<AgentWithDefinition> {
  const row = await updateUntilCurrent(context, id, async (before) => (before.status === status ? {} : { status }));
  // The agent is archived already. A campaign that this event does not reach pauses at its next call, which is returned to it.
  if (status === 'archived')
    await publish(context, 'agent.archived', { agentId: id }).catch((error: unknown) =>
      context.log.error('campaigns of an archived voice agent were not notified', error, { agent_id: id }),
    );
  return row;
}

/**
 * Changes an agent if its required tests pass with the change. Throws 404, 422, and 409 when a test fails, the agent is archived, or
 * another request changes it meanwhile; then nothing is written.
 */
export async function changeVerifiedAgent(context: Context, id: number, input: Partial<NewAgent>): Promise<AgentWithDefinition> {
  const before = await existingAgentWithDefinition(context, id);
  const change = await prepareChange(context, before, input);
  const after = applyAgentChange(before, change);
  if (parseRequiredTests(after).length === 0)
    throw invalidAt(
      ['body', 'require_verified'],
      'There are no tests to verify it by; add workflow_configurations.required_tests, or leave this out',
    );
  requireActive(before);
  await requireSound(context, after, definitionPath);
  const failures = await agentChangeGate().explainFailedTests(context, after);
  if (failures !== null)
    throw conflict(`Nothing was changed: ${failures} GET /simtest/test-sessions/{test_session_id}/conversation shows what was said`);
  const written =
    Object.keys(change).length > 0
      ? await updateAgent(context.database, context.organization, before, change, context.clock())
      : await requireUnchanged(context, before);
  if (!written)
    throw conflict(
      'Nothing was changed: it passed its tests, but the voice agent was changed by another request meanwhile; send it again to verify it together with that',
    );
  return written;
}

/** Null: another request has changed the agent. */
async function requireUnchanged(context: Context, before: AgentWithDefinition): Promise<AgentWithDefinition | null> {
  const now = await existingAgentWithDefinition(context, before.id);
  return now.updated_at === before.updated_at ? now : null;
}

type AgentChange = Partial<AgentFields> & { status?: AgentStatus; restored_from?: number };

async function updateUntilCurrent(
  context: Context,
  id: number,
  toChange: (row: AgentWithDefinition) => Promise<AgentChange>,
): Promise<AgentWithDefinition> {
  const attempt = async () => {
    const row = await existingAgentWithDefinition(context, id);
    const change = await toChange(row);
    return Object.keys(change).length ? updateAgent(context.database, context.organization, row, change, context.clock()) : row;
  };
  const written = await enforcePlanLimit(context.organization, () => retryOnConflict(attempt));
  if (!written) throw conflict('The voice agent keeps being changed by other requests; try again');
  return written;
}
