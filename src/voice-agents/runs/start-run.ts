import type { Context } from '../../accounts/context.ts';
import { boundPayload } from '../../database/payload.ts';
import { existingAgentWithDefinition } from '../agents/existing-agent.ts';
import { startCall } from '../dialing/start-call.ts';
import type { RunRecord } from '../schemas.ts';
import { startTextChat } from '../text-chat/start.ts';
import { existingRun } from './existing-run.ts';
import { readRun } from './read.ts';
import { runRecord } from './records.ts';

const contextLimitBytes = 256 * 1024;

export interface RunOrder {
  mode: 'telephony' | 'textchat';
  phone?: string | null | undefined;
  contact_id?: number | null | undefined;
  initial_context?: Record<string, unknown> | null | undefined;
  live_tools?: boolean | null | undefined;
}

/**
 * Calls a person, or begins a text chat. A repeat under the same Idempotency-Key is answered the run of the first try, also where that one
 * failed after it had begun. Throws 404, 409 and 422.
 */
export async function startRun(
  context: Context,
  apiUrl: string,
  agentId: number,
  order: RunOrder,
  idempotencyKey?: string,
): Promise<RunRecord> {
  const agent = await existingAgentWithDefinition(context, agentId);
  boundPayload(JSON.stringify(order.initial_context ?? {}), contextLimitBytes, ['body', 'initial_context']);
  const start = order.mode === 'telephony' ? startCall : startTextChat;
  const { runId } = await start(context, agent, order, idempotencyKey);
  try {
    return await readRun(context, apiUrl, agentId, runId);
  } catch (error) {
    // What was asked for is done, so it is not to be asked for again.
    context.log.error('a run that was started could not be looked at', error, { run_id: runId });
    const callStatus = order.mode === 'telephony' ? 'queued' : 'in_progress';
    return runRecord(apiUrl, await existingRun(context, agentId, runId), { initialContext: order.initial_context ?? {}, callStatus });
  }
}
