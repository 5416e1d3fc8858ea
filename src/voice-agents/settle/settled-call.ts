import { isRecord, type Json } from '../../library/json.ts';
import type { ConversationState, EndReason } from '../conversation/contract.ts';
import { gatheredContext } from '../conversation/gathered-context.ts';
import type { LineEnd } from '../dialing/contract.ts';
import { configurationsOf } from '../agents/configurations.ts';
import type { RunResult, Settlement } from '../runs/run-store.ts';
import type { CallFacts } from './call-facts.ts';
import { modelCost } from './model-prices.ts';

/** What a line and a talk came to. `model` is the one that answers where the agent names none. */
export interface EndedCall {
  facts: CallFacts;
  line: LineEnd;
  /** Null: nobody talked. */
  state: ConversationState | null;
  /** Whether anything was said. */
  hasTranscript: boolean;
  model: string;
}

/** The row of a run as it is completed with. */
export function settlementOf({ facts, line, state, hasTranscript, model }: EndedCall): Settlement {
  const isUnheard = state === null && facts.mode !== 'textchat' && line.outcome === 'completed';
  // Somebody picked up, and heard nothing of the agent: nobody was reached.
  const outcome = isUnheard ? 'failed' : line.outcome;
  return {
    runId: facts.runId,
    outcome,
    reason: line.reason ?? (isUnheard ? unheard : reasonOf(state?.end?.reason)),
    disposition: state?.conclusion?.disposition ?? null,
    result: {
      gathered_context: { ...gatheredOf(state), call_status: outcome },
      cost_info: costInfo(facts, state, line.durationSeconds, model),
      annotations: annotationsOf(state),
    },
    hasTranscript,
    startedAt: line.answeredAt ?? state?.startedAt ?? null,
    completedAt: line.endedAt,
  };
}

/** What a talk has gathered so far and cost, for those who look at it while it lasts. */
export function resultSoFar(facts: CallFacts, state: ConversationState | null, now: number, model: string): RunResult {
  const seconds = state ? Math.round(((state.end?.at ?? now) - state.startedAt) / 1000) : 0;
  return {
    gathered_context: { ...gatheredOf(state), call_status: 'in_progress' },
    cost_info: costInfo(facts, state, seconds, model),
    annotations: annotationsOf(state),
  };
}

const nothingGathered = { call_disposition: null, call_tags: [], nodes_visited: [], extracted_variables: {} };
const gatheredOf = (state: ConversationState | null): Record<string, unknown> => (state ? gatheredContext(state) : nothingGathered);

function costInfo(facts: CallFacts, state: ConversationState | null, durationSeconds: number, model: string): Record<string, unknown> {
  const usage = state?.usage ?? { prompt_tokens: 0, completion_tokens: 0 };
  return {
    llm_tokens: { prompt: usage.prompt_tokens, completion: usage.completion_tokens },
    call_duration_seconds: durationSeconds,
    total_cost_usd: modelCost(configurationsOf(facts.configurations).model ?? model, usage),
  };
}

const annotationsOf = (state: ConversationState | null): Record<string, unknown> => ({
  summary: state?.conclusion?.summary ?? null,
  sentiment: state?.conclusion?.sentiment ?? null,
  checks: [],
});

const unheard = 'agent_not_heard: the line ended before the agent was on it';

/** Where what the line did does not say how the talk ended. */
const reasonOf = (reason: EndReason | undefined): string | null =>
  reason === 'error'
    ? 'agent_failed: the language model did not answer, so the agent apologised and ended the talk; see logs.events'
    : null;

/** What `call.completed` tells, and webhooks where they are not told what to send. */
export function completedCall(facts: CallFacts, { outcome, reason, disposition, result }: Settlement): Record<string, Json> {
  const extracted = result.gathered_context['extracted_variables'];
  return {
    call_run_id: facts.runId,
    workflow_id: facts.agentId,
    workflow_name: facts.agentName,
    outcome,
    reason,
    disposition,
    extracted_variables: isRecord(extracted) ? (extracted as Record<string, Json>) : {},
    summary: result.annotations['summary'] as string | null,
    phone: facts.phone,
    campaign_id: facts.campaignId,
    automation_run_id: facts.automationRunId,
    duration_seconds: result.cost_info['call_duration_seconds'] as number,
  };
}
