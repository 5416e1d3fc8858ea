import type { Context } from '../../accounts/context.ts';
import { withinPlan } from '../../accounts/room.ts';
import { untilCurrent } from '../../automation-workflows/optimistic-write.ts';
import { agentArchived } from '../../campaigns/agent-archived.ts';
import { conflict } from '../../library/errors.ts';
import { updateAgent, type AgentFields, type AgentStatus, type AgentWithDefinition } from './agent-store.ts';
import type { NewAgent } from './create.ts';
import { existingAgentWithDefinition } from './existing-agent.ts';
import { prepareChange } from './prepare-change.ts';

/** Changes what is given. A changed definition is a new one, on which runs begin from now on; earlier runs stay on theirs. */
export const changeAgent = (context: Context, id: number, input: Partial<NewAgent>): Promise<AgentWithDefinition> =>
  write(context, id, (row) => prepareChange(context, row, input));

/** Archives or restores an agent. Sent again, it changes nothing, and makes good what a crash left undone. */
export async function setAgentStatus(context: Context, id: number, status: AgentStatus): Promise<AgentWithDefinition> {
  const row = await write(context, id, async (before) => (before.status === status ? {} : { status }));
  // The agent is archived by now. A campaign that is not reached pauses at its next call, which is given back.
  if (status === 'archived')
    await agentArchived(context, id).catch((error: unknown) =>
      context.log.error('campaigns of an archived voice agent were not told', error, { agent_id: id }),
    );
  return row;
}

type AgentChange = Partial<AgentFields> & { status?: AgentStatus };

async function write(
  context: Context,
  id: number,
  changeOf: (row: AgentWithDefinition) => Promise<AgentChange>,
): Promise<AgentWithDefinition> {
  const attempt = async () => {
    const row = await existingAgentWithDefinition(context, id);
    const change = await changeOf(row);
    return Object.keys(change).length ? updateAgent(context.database, context.organization, row, change, context.clock()) : row;
  };
  const written = await withinPlan(context.organization, () => untilCurrent(attempt));
  if (!written) throw conflict('The voice agent keeps being changed by other requests; try again');
  return written;
}
