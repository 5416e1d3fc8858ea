import type { Context } from '../../src/context.ts';
import type { ActionFailure } from '../../src/integrations/actions/run-action.ts';
import { isOptOut } from '../../src/contacts/suppressions/opt-out-words.ts';
import type { EndedCall } from '../../src/integrations/call-summary/ended-call.ts';
import { recordSummaryFailure, postSummary, type SummaryOutcome } from '../../src/integrations/call-summary/post-summary.ts';
import { summaryTargets } from '../../src/integrations/call-summary/summary-targets.ts';
import type { RunCompletion } from '../../src/calls/records/store.ts';
import type { CallSetup } from '../../src/calls/live-call/call-setup.ts';
import type { PostCallContext } from './post-call-context.ts';

const maxTries = 6;
const delaysMs = [5_000, 30_000, 120_000, 300_000, 600_000];

/** The followers that post summaries of a call, one for each tool that is told of it. */
export const listSummarySubjects = async (context: Context, setup: CallSetup, completion: RunCompletion): Promise<string[]> =>
  (await summaryTargets(context, toEndedCall(setup, completion))).map((id) => `summary:${id}`);

/** False: it is tried again later. A try that the object died of is told from one that is known to have failed: only that was not posted. */
export async function postCallSummary(postCall: PostCallContext, subject: string, completion: RunCompletion): Promise<boolean> {
  const { context, record, hasCall } = postCall;
  const integrationId = Number(subject.slice('summary:'.length));
  const knownFailures = record.countTries(failureSubject(subject));
  const number = record.countTry(subject);
  const call = toEndedCall(record.setup, completion);
  const outcome = await postSummary(context, { integrationId, call, mayExist: number - 1 > knownFailures });
  if (!hasCall()) return true;
  const willRetry = outcome.kind === 'failed' && isRetryable(outcome) && number < maxTries;
  if (outcome.kind === 'failed' && !willRetry) {
    await recordSummaryFailure(context, integrationId, `Call ${call.runId} was not summed up: ${outcome.failure.message}`);
    if (!hasCall()) return true;
  }
  recordSummaryOutcome(postCall, { subject, integrationId, number, willRetry: willRetry }, outcome);
  return !willRetry;
}

const failureSubject = (subject: string): string => `${subject} failed`;

/** What is not looked up may not be repeated when nobody knows whether it was done. */
const isRetryable = ({ failure, isLookedUp }: SummaryOutcome & { kind: 'failed' }): boolean =>
  (failure.failure === 'rate_limited' || failure.failure === 'unavailable') && (isLookedUp || !failure.outcomeUnknown);

interface SummaryTry {
  subject: string;
  integrationId: number;
  number: number;
  willRetry: boolean;
}

function recordSummaryOutcome(
  { context, storage, record, store, timers }: PostCallContext,
  tried: SummaryTry,
  outcome: SummaryOutcome,
): void {
  const { subject, integrationId: integration_id, number, willRetry } = tried;
  const now = context.clock();
  const log = (type: string, payload: Record<string, unknown>) => store.log(type, { integration_id, try: number, ...payload }, now);
  if (outcome.kind === 'posted') log('call_summary_posted', outcome.to);
  else if (outcome.kind === 'dropped') log('call_summary_dropped', { problem: outcome.why });
  else
    storage.transactionSync(() => {
      const { failure, message, outcomeUnknown } = outcome.failure;
      if (!outcomeUnknown) record.countTry(failureSubject(subject));
      log('call_summary_failed', { failure, problem: message, will_be_repeated: willRetry });
      if (willRetry) timers.set('follow', now + retryDelayMs(number, outcome.failure), subject);
    });
}

/** Half of it random: many calls end at once, and a channel takes about one message a second. */
const retryDelayMs = (number: number, { retryAfterSeconds = 0 }: ActionFailure): number =>
  Math.max(delaysMs[number - 1]!, retryAfterSeconds * 1000) * (1 + Math.random() / 2);

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
