import { isRecord, type Json } from '../../library/json/json.ts';
import type { ConversationState, EndReason } from '../../voice-agents/conversation/contract.ts';
import { toTransferRecords, type TransferRecord } from '../../voice-agents/conversation/transfer-leg.ts';
import { toGatheredContext } from '../../voice-agents/conversation/conversation-context.ts';
import type { CallEnd } from '../contract.ts';
import { parseConfigurations } from '../../voice-agents/agents/configurations.ts';
import type { AgentRunResult, RunCompletion } from '../records/store.ts';
import type { CallSetup } from '../live-call/call-setup.ts';
import { toAnsweredBy } from './answered-by.ts';
import { conversationCostUsd } from './model-prices.ts';
import type { Context } from '../../context.ts';
import { publish } from '../../outbox/published-events.ts';
import type { KnowledgeQuestions } from './knowledge-questions.ts';

/** The end of a line and of its conversation. `model` is the default model, for an agent that names none. */
export interface RunCompletionInput {
  setup: CallSetup;
  line: CallEnd;
  /** Null: the agent did not talk. */
  state: ConversationState | null;
  /** Whether anything was said. */
  hasTranscript: boolean;
  /** Whether a message was left on a machine, or a person talked whom machine detection took for a machine; null: neither. */
  verdict?: 'left' | 'corrected' | null;
  model: string;
}

/** The values with which the row of a run is completed. */
export function toRunCompletion({ setup, line: reported, state, hasTranscript, verdict = null, model }: RunCompletionInput): RunCompletion {
  // The end may have come before the call slots were told that the verdict was false.
  const line: CallEnd = verdict === 'corrected' && reported.outcome === 'voicemail' ? { ...reported, outcome: 'completed' } : reported;
  const isNotHeard = state === null && setup.mode !== 'textchat' && line.outcome === 'completed';
  // The person picked up but the agent did not talk, so the person was not reached.
  const outcome = isNotHeard ? 'failed' : line.outcome;
  return {
    runId: setup.runId,
    outcome,
    reason: line.reason ?? (isNotHeard ? agentNotHeardReason : explainEnd(state?.end?.reason)),
    disposition: toDisposition(state, verdict),
    talkSeconds: setup.mode !== 'textchat' && outcome === 'completed' ? line.durationSeconds : null,
    result: {
      answered_by: verdict === 'corrected' ? 'person' : toAnsweredBy(outcome, line.statusCallbacks),
      gathered_context: { ...toGathered(state), call_disposition: toDisposition(state, verdict), call_status: outcome },
      cost_info: toCostInfo(setup, state, line.durationSeconds, model),
      annotations: toAnnotations(state),
      ...toTransfers(state, line.endedAt),
    },
    hasTranscript,
    startedAt: line.answeredAt ?? state?.startedAt ?? null,
    completedAt: line.endedAt,
  };
}

/** The completion with the searches in documents, which statistics count. */
export const withQuestions = (completion: RunCompletion, { asked, unanswered }: KnowledgeQuestions): RunCompletion =>
  asked === 0
    ? completion
    : { ...completion, result: { ...completion.result, knowledge: { questions: asked, unanswered: unanswered.length } } };

/** What a live conversation has gathered so far and costs, for readers of the run. */
export function toInterimResult(setup: CallSetup, state: ConversationState | null, now: number, model: string): AgentRunResult {
  const seconds = state ? Math.round(((state.end?.at ?? now) - state.startedAt) / 1000) : 0;
  return {
    gathered_context: { ...toGathered(state), call_status: 'in_progress' },
    cost_info: toCostInfo(setup, state, seconds, model),
    annotations: toAnnotations(state),
    ...toTransfers(state, null),
  };
}

/** The disposition of a call on which a message was left on a machine. */
const voicemailLeft = 'voicemail_left';

const toDisposition = (state: ConversationState | null, verdict: RunCompletionInput['verdict']): string | null =>
  verdict === 'left' ? voicemailLeft : (state?.conclusion?.disposition ?? null);

/** Nothing for a call that is not transferred. */
const toTransfers = (state: ConversationState | null, lineEndedAt: number | null): { transfers?: TransferRecord[] } =>
  state?.transfers ? { transfers: toTransferRecords(state.transfers, lineEndedAt) } : {};

const nothingGathered = { call_disposition: null, call_tags: [], nodes_visited: [], extracted_variables: {} };
const toGathered = (state: ConversationState | null): Record<string, unknown> => (state ? toGatheredContext(state) : nothingGathered);

function toCostInfo(setup: CallSetup, state: ConversationState | null, durationSeconds: number, model: string): Record<string, unknown> {
  const usage = state?.usage ?? { prompt_tokens: 0, completion_tokens: 0 };
  return {
    llm_tokens: { prompt: usage.prompt_tokens, completion: usage.completion_tokens },
    call_duration_seconds: durationSeconds,
    total_cost_usd: conversationCostUsd(state, setup.languageModels ?? [], parseConfigurations(setup.configurations).model ?? model),
  };
}

const toAnnotations = (state: ConversationState | null): Record<string, unknown> => ({
  summary: state?.conclusion?.summary ?? null,
  sentiment: state?.conclusion?.sentiment ?? null,
  checks: [],
});

const agentNotHeardReason = 'agent_not_heard: the line ended before the agent was on it';

/** Why the conversation ended, if the outcome of the line does not say it. */
const explainEnd = (reason: EndReason | undefined): string | null =>
  reason === 'error'
    ? 'agent_failed: the language model did not answer, so the agent apologised and ended the talk; see logs.events'
    : null;

/** The data of `call.completed`, which is also the default body of webhook nodes. */
export function toCallCompletedData(setup: CallSetup, { outcome, reason, disposition, result }: RunCompletion): Record<string, Json> {
  const extracted = result.gathered_context['extracted_variables'];
  return {
    call_run_id: setup.runId,
    workflow_id: setup.agentId,
    workflow_name: setup.agentName,
    outcome,
    reason,
    disposition,
    extracted_variables: isRecord(extracted) ? (extracted as Record<string, Json>) : {},
    summary: result.annotations['summary'] as string | null,
    phone: setup.phone,
    campaign_id: setup.campaignId,
    automation_run_id: setup.automationRunId,
    duration_seconds: result.cost_info['call_duration_seconds'] as number,
    ...(result.transfers && { transfers: result.transfers as unknown as Json }),
  };
}

/** Publishes `call.completed`. Repeatable: a trigger's run is keyed by the call. */
export const publishCallCompleted = (context: Context, setup: CallSetup, completion: RunCompletion): Promise<void> =>
  publish(context, 'call.completed', {
    key: `call:${setup.runId}`,
    contactId: setup.contactId,
    depth: 1,
    data: toCallCompletedData(setup, completion),
  });
