import type { Context } from '../context.ts';
import { requirePayloadSize } from '../database/payload.ts';
import { existingAgentWithDefinition } from '../voice-agents/agents/find-agents.ts';
import { startCall } from './placing/start-call.ts';
import type { AgentRunRecord } from './records/schemas.ts';
import { startTextChat } from './text-chat/start-chat.ts';
import { existingRun } from './records/store.ts';
import { readAgentRun } from './records/read-run.ts';
import { toAgentRunRecord } from './records/run-record.ts';

const maxContextBytes = 256 * 1024;

export interface StartRunInput {
  mode: 'telephony' | 'textchat';
  phone?: string | null | undefined;
  contact_id?: number | null | undefined;
  initial_context?: Record<string, unknown> | null | undefined;
  live_tools?: boolean | null | undefined;
}

/**
 * Calls a person, or starts a text chat. A repeat under the same Idempotency-Key is answered with the run of the first try, even if the
 * first try failed after the run was stored. Throws 404, 409 and 422.
 */
export async function startRun(
  context: Context,
  apiUrl: string,
  agentId: number,
  input: StartRunInput,
  idempotencyKey?: string,
): Promise<AgentRunRecord> {
  const agent = await existingAgentWithDefinition(context, agentId);
  requirePayloadSize(JSON.stringify(input.initial_context ?? {}), maxContextBytes, ['body', 'initial_context']);
  const start = input.mode === 'telephony' ? startCall : startTextChat;
  const { runId } = await start(context, agent, input, idempotencyKey);
  try {
    return await readAgentRun(context, apiUrl, agentId, runId);
  } catch (error) {
    // The run has started, so the caller must not repeat the request.
    context.log.error('a run that was started could not be read', error, { run_id: runId });
    const callStatus = input.mode === 'telephony' ? 'queued' : 'in_progress';
    return toAgentRunRecord(apiUrl, await existingRun(context, agentId, runId), {
      initialContext: input.initial_context ?? {},
      callStatus,
    });
  }
}
