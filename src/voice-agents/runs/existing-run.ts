import type { Context } from '../../accounts/context.ts';
import { notFound } from '../../library/errors.ts';
import { findRun, type RunRow } from './run-store.ts';

/** Throws 404, also for a run of another agent. */
export async function existingRun(context: Context, agentId: number, runId: number): Promise<RunRow> {
  const row = await findRun(context, runId);
  if (row?.agent_id !== agentId) throw notFound('Run');
  return row;
}
