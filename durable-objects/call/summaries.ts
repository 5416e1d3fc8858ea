import type { Context } from '../../src/context.ts';
import type { ActionFailure } from '../../src/integrations/actions/run-action.ts';
import { isOptOut } from '../../src/contacts/suppressions/opt-out-words.ts';
import type { EndedCall } from '../../src/integrations/call-summary/ended-call.ts';
import { recordSummaryFailure, postSummary, type SummaryOutcome } from '../../src/integrations/call-summary/post-summary.ts';
import { summaryTargets } from '../../src/integrations/call-summary/summary-targets.ts';
import type { RunCompletion } from '../../src/calls/records/store.ts';
import type { CallSetup } from '../../src/calls/live-call/call-setup.ts';
import { callTimers } from './call-record.ts';
import type { PostCallContext } from './post-call-context.ts';

const maxTries = 6;
const delaysMs = [5_000, 30_000, 120_000, 300_000, 600_000];

/** The subjects of follow-ups that post summaries of a call, one for each tool that gets one. */
export const listSummarySubjects = async (context: Context, setup: CallSetup, completion: RunCompletion): Promise<string[]> =>
  (await summaryTargets(context, toEndedCall(setup, completion))).map((id) => `summary:${id}`);

/**
 * Posts a summary of a call to a tool. False: it is tried again later. Failures are counted apart from tries: a try without a counted
 * failure may have posted before the object died.
 */
export async function postCallSummary(postCall: PostCallContext, subject: string, completion: RunCompletion): Promise<boolean> {
  const { context, record, hasCall } = postCall;
  const integrationId = Number(subject.slice('summary:'.length));
  const knownFailures = record.countTries(failureSubject(subject));
  const tryNumber = record.countTry(subject);
  const call = toEndedCall(record.setup, completion);
  const outcome = await postSummary(context, { integrationId, call, mayExist: tryNumber - 1 > knownFailures });
  if (!hasCall()) return true;
  const willRetry = outcome.kind === 'failed' && isRetryable(outcome) && tryNumber < maxTries;
  if (outcome.kind === 'failed' && !willRetry) {
    await recordSummaryFailure(context, integrationId, `Call ${call.runId} was not summed up: ${outcome.failure.message}`);
    if (!hasCall()) return true;
  }
  recordSummaryOutcome(postCall, { subject, integrationId, tryNumber, willRetry }, outcome);
  return !willRetry;
}

const failureSubject = (subject: string): string => `${subject} failed`;

/** Whether a failed try may be repeated. With an unknown outcome it may only if the next try looks the summary up first. */
const isRetryable = ({ failure, isLookedUp }: SummaryOutcome & { kind: 'failed' }): boolean =>
  (failure.failure === 'rate_limited' || failure.failure === 'unavailable') && (isLookedUp || !failure.outcomeUnknown);

interface SummaryTry {
  subject: string;
  integrationId: number;
  tryNumber: number;
  willRetry: boolean;
}

function recordSummaryOutcome(
  { context, storage, record, store, timers }: PostCallContext,
  tried: SummaryTry,
  outcome: SummaryOutcome,
): void {
  const { subject, integrationId: integration_id, tryNumber, willRetry } = tried;
  const now = context.clock();
  const log = (type: string, payload: Record<string, unknown>) => store.log(type, { integration_id, try: tryNumber, ...payload }, now);
  if (outcome.kind === 'posted') log('call_summary_posted', outcome.to);
  else if (outcome.kind === 'dropped') log('call_summary_dropped', { problem: outcome.why });
  else
    storage.transactionSync(() => {
      const { failure, message, outcomeUnknown } = outcome.failure;
      if (!outcomeUnknown) record.countTry(failureSubject(subject));
      log('call_summary_failed', { failure, problem: message, will_be_repeated: willRetry });
      if (willRetry) timers.set(callTimers.followUp, now + retryDelayMs(tryNumber, outcome.failure), subject);
    });
}

/** The delay before the next try, half of it random: many calls end at once, and a channel takes about one message a second. */
const retryDelayMs = (tryNumber: number, { retryAfterSeconds = 0 }: ActionFailure): number =>
  Math.max(delaysMs[tryNumber - 1]!, retryAfterSeconds * 1000) * (1 + Math.random() / 2);

function toEndedCall(setup: CallSetup, { outcome, reason, disposition, result, completedAt }: RunCompletion): EndedCall {
  const { runId, agentId, agentName, phone, contactId } = setup;
  const callTags = result.gathered_context['call_tags'];
  const tags = Array.isArray(callTags) ? (callTags as string[]) : [];
  return {
    runId,
    agentId,
    agentName,
    phone,
    contactId,
    outcome,
    reason,
    disposition,
    tags,
    isOptOut: isOptOut({ disposition, tags }),
    summary: result.annotations['summary'] as string | null,
    durationSeconds: result.cost_info['call_duration_seconds'] as number,
    endedAt: completedAt,
  };
}
