import type { Context } from '../../context.ts';
import { enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import { retryOnConflict } from '../../database/compare-and-set.ts';
import { conflict } from '../../library/errors.ts';
import { publish } from '../../outbox/published-events.ts';
import { updateAgent, type AgentFields, type AgentStatus, type AgentWithDefinition } from './store.ts';
import type { NewAgent } from './create-agent.ts';
import { existingAgentWithDefinition } from './existing-agent.ts';
import { prepareChange } from './prepare-change.ts';

/** Changes what is given. A changed definition is a new one, on which runs begin from now on; earlier runs stay on theirs. */
export const changeAgent = (context: Context, id: number, input: Partial<NewAgent>): Promise<AgentWithDefinition> =>
  updateUntilCurrent(context, id, (row) => prepareChange(context, row, input));

/**
 * Archives or restores an agent, and publishes `agent.archived`. Repeatable: a repeat does what a crash left undone. Throws 404, and 409 where the
 * plan has no room for another active agent.
 */
export async function setAgentStatus(context: Context, id: number, status: AgentStatus): Promise<AgentWithDefinition> {
  const row = await updateUntilCurrent(context, id, async (before) => (before.status === status ? {} : { status }));
  // The agent is archived by now. A campaign that is not reached pauses at its next call, which is given back.
  if (status === 'archived')
    await publish(context, 'agent.archived', { agentId: id }).catch((error: unknown) =>
      context.log.error('campaigns of an archived voice agent were not told', error, { agent_id: id }),
    );
  return row;
}

type AgentChange = Partial<AgentFields> & { status?: AgentStatus };

async function updateUntilCurrent(
  context: Context,
  id: number,
  changeOf: (row: AgentWithDefinition) => Promise<AgentChange>,
): Promise<AgentWithDefinition> {
  const attempt = async () => {
    const row = await existingAgentWithDefinition(context, id);
    const change = await changeOf(row);
    return Object.keys(change).length ? updateAgent(context.database, context.organization, row, change, context.clock()) : row;
  };
  const written = await enforcePlanLimit(context.organization, () => retryOnConflict(attempt));
  if (!written) throw conflict('The voice agent keeps being changed by other requests; try again');
  return written;
}
