import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { findAgentRun, type AgentRunRow } from './store.ts';

/** Throws 404, also for a run of another agent. */
export async function existingRun(context: Context, agentId: number, runId: number): Promise<AgentRunRow> {
  const row = await findAgentRun(context, runId);
  if (row?.agent_id !== agentId) throw notFound('Run');
  return row;
}
