import type { Context } from '../../accounts/context.ts';
import { boundPayload } from '../../database/payload.ts';
import { existingAgent, requireActive } from '../agents/existing-agent.ts';
import { startCall } from '../dialing/start-call.ts';
import type { RunRecord } from '../schemas.ts';
import { startTextChat } from '../text-chat/start.ts';
import { readRun } from './read.ts';

const contextLimitBytes = 256 * 1024;

export interface RunOrder {
  mode: 'telephony' | 'textchat';
  phone?: string | null | undefined;
  contact_id?: number | null | undefined;
  initial_context?: Record<string, unknown> | null | undefined;
  live_tools?: boolean | null | undefined;
}

/** Calls a person, or begins a text chat. Throws 404, 409 and 422. */
export async function startRun(context: Context, apiUrl: string, agentId: number, order: RunOrder): Promise<RunRecord> {
  const agent = await existingAgent(context, agentId);
  requireActive(agent);
  boundPayload(JSON.stringify(order.initial_context ?? {}), contextLimitBytes, ['body', 'initial_context']);
  const start = order.mode === 'telephony' ? startCall : startTextChat;
  const { runId } = await start(context, agent, order);
  return readRun(context, apiUrl, agentId, runId);
}
