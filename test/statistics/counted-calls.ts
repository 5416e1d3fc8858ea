import type { Context } from '../../src/context.ts';
import type { RunCompletion } from '../../src/calls/records/store.ts';
import type { TransferRecord } from '../../src/voice-agents/conversation/transfer-leg.ts';
import { ownRows } from '../support/own-rows.ts';
import { newRun, settle, settlement } from '../voice-agents/runs.ts';

type Agent = { id: number; current_definition_id: number };

/** What a test says of a call that is counted. Moments in epoch ms. */
export interface CountedCall {
  createdAt?: number;
  campaignId?: number | null;
  journeyId?: number | null;
  ownNumber?: string | null;
  direction?: 'inbound' | 'outbound';
  isChat?: boolean;
  outcome?: RunCompletion['outcome'];
  disposition?: string | null;
  talkSeconds?: number | null;
  costUsd?: number | null;
  knowledge?: { questions: number; unanswered: number };
  transfers?: readonly CountedTransfer[];
}

/** A try to hand the caller to a human. `seconds` null: nobody took the call. */
interface CountedTransfer {
  /** Absent: a record of an earlier version. */
  request?: number;
  isFallback?: boolean;
  seconds: number | null;
}

const toTransfer = ({ request, isFallback = false, seconds }: CountedTransfer): TransferRecord => ({
  ...(request !== undefined && { request }),
  to: '+12124560100',
  mode: 'cold',
  is_fallback: isFallback,
  state: seconds === null ? 'failed' : 'completed',
  requested_at: '2026-11-20T10:14:20.000Z',
  answered_at: seconds === null ? null : '2026-11-20T10:14:31.000Z',
  seconds,
  reason: seconds === null ? 'busy' : null,
});

/** A call that has begun; answers its id. */
export async function beginCall(context: Context, agent: Agent, call: CountedCall = {}): Promise<number> {
  const isChat = call.isChat === true;
  const { id } = await newRun(context, agent, {
    mode: isChat ? 'textchat' : 'twilio',
    callType: call.direction ?? 'outbound',
    campaignId: call.campaignId ?? null,
    ownNumber: call.ownNumber === undefined ? '+15005550006' : call.ownNumber,
    attemptKey: `${isChat ? 'chat' : 'single'}:0:${crypto.randomUUID()}`,
  });
  await ownRows
    .prepare('UPDATE voice_agent_run SET created_at = ?, automation_workflow_id = ? WHERE id = ?')
    .bind(call.createdAt ?? Date.now(), call.journeyId ?? null, id)
    .run();
  return id;
}

/** The completion with which a call is settled. */
export function completionOf(runId: number, call: CountedCall = {}): RunCompletion {
  const {
    outcome = 'completed',
    disposition = null,
    talkSeconds = outcome === 'completed' ? 42 : null,
    costUsd = 0.01,
    knowledge,
    transfers,
  } = call;
  return settlement(runId, {
    outcome,
    disposition,
    talkSeconds: call.isChat ? null : talkSeconds,
    result: {
      gathered_context: {},
      cost_info: { llm_tokens: { prompt: 10, completion: 5 }, call_duration_seconds: talkSeconds ?? 7, total_cost_usd: costUsd },
      annotations: {},
      ...(knowledge && { knowledge }),
      ...(transfers && { transfers: transfers.map(toTransfer) }),
    },
  });
}

/** A call that has ended; answers its id. */
export async function endCall(context: Context, agent: Agent, call: CountedCall = {}): Promise<number> {
  const id = await beginCall(context, agent, call);
  await settle(context, completionOf(id, call));
  return id;
}
