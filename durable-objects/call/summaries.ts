import type { Context } from '../../src/accounts/context.ts';
import type { ActionFailure } from '../../src/integrations/actions/acting.ts';
import type { EndedCall } from '../../src/integrations/call-summary/ended-call.ts';
import { noteSummaryFailure, postSummary, type SummaryOutcome } from '../../src/integrations/call-summary/post-summary.ts';
import { summaryTargets } from '../../src/integrations/call-summary/targets.ts';
import type { Settlement } from '../../src/voice-agents/runs/run-store.ts';
import type { CallFacts } from '../../src/voice-agents/settle/call-facts.ts';
import type { Settling } from './settling.ts';

const mostTries = 6;
const delaysMs = [5_000, 30_000, 120_000, 300_000, 600_000];

/** The followers that post summaries of a call, one for each tool that is told of it. */
export const summarySubjects = async (context: Context, facts: CallFacts, settlement: Settlement): Promise<string[]> =>
  (await summaryTargets(context, endedCall(facts, settlement))).map((id) => `summary:${id}`);

/** False: it is tried again later. A try that the object died of is told from one that is known to have failed: only that was not posted. */
export async function postCallSummary(settling: Settling, subject: string, settlement: Settlement): Promise<boolean> {
  const { context, record, isThere } = settling;
  const integrationId = Number(subject.slice('summary:'.length));
  const knownFailures = record.tries(failuresOf(subject));
  const number = record.tryOnce(subject);
  const call = endedCall(record.facts, settlement);
  const outcome = await postSummary(context, { integrationId, call, mayExist: number - 1 > knownFailures });
  if (!isThere()) return true;
  const repeats = outcome.kind === 'failed' && mayHelp(outcome) && number < mostTries;
  if (outcome.kind === 'failed' && !repeats) {
    await noteSummaryFailure(context, integrationId, `Call ${call.runId} was not summed up: ${outcome.failure.message}`);
    if (!isThere()) return true;
  }
  tell(settling, { subject, integrationId, number, repeats }, outcome);
  return !repeats;
}

const failuresOf = (subject: string): string => `${subject} failed`;

/** What is not looked up may not be repeated when nobody knows whether it was done. */
const mayHelp = ({ failure, isLookedUp }: SummaryOutcome & { kind: 'failed' }): boolean =>
  (failure.failure === 'rate_limited' || failure.failure === 'unavailable') && (isLookedUp || !failure.outcomeUnknown);

interface Try {
  subject: string;
  integrationId: number;
  number: number;
  repeats: boolean;
}

function tell({ context, storage, record, store, timers }: Settling, tried: Try, outcome: SummaryOutcome): void {
  const { subject, integrationId: integration_id, number, repeats } = tried;
  const now = context.clock();
  const log = (type: string, payload: Record<string, unknown>) => store.log(type, { integration_id, try: number, ...payload }, now);
  if (outcome.kind === 'posted') log('call_summary_posted', outcome.to);
  else if (outcome.kind === 'dropped') log('call_summary_dropped', { problem: outcome.why });
  else
    storage.transactionSync(() => {
      const { failure, message, outcomeUnknown } = outcome.failure;
      if (!outcomeUnknown) record.tryOnce(failuresOf(subject));
      log('call_summary_failed', { failure, problem: message, will_be_repeated: repeats });
      if (repeats) timers.set('follow', now + delayMs(number, outcome.failure), subject);
    });
}

/** Half of it random: many calls end at once, and a channel takes about one message a second. */
const delayMs = (number: number, { retryAfterSeconds = 0 }: ActionFailure): number =>
  Math.max(delaysMs[number - 1]!, retryAfterSeconds * 1000) * (1 + Math.random() / 2);

function endedCall(facts: CallFacts, { outcome, reason, disposition, result, completedAt }: Settlement): EndedCall {
  const { runId, agentId, agentName, phone, contactId } = facts;
  const tags = result.gathered_context['call_tags'];
  return {
    runId,
    agentId,
    agentName,
    phone,
    contactId,
    outcome,
    reason,
    disposition,
    tags: Array.isArray(tags) ? (tags as string[]) : [],
    summary: result.annotations['summary'] as string | null,
    durationSeconds: result.cost_info['call_duration_seconds'] as number,
    endedAt: completedAt,
  };
}
