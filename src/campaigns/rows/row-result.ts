import type { CallRecord } from '../../calls/listing/schemas.ts';
import type { RowCall } from './row-calls.ts';

/** The fields of a call that say to which human the caller was handed. */
export const transferFieldNames = [
  'transferred_to',
  'transfer_mode',
  'transfer_is_fallback',
  'transfer_state',
  'transfer_answered_at',
  'transfer_seconds',
  'transfer_reason',
] as const satisfies (keyof CallRecord)[];
type TransferFields = Pick<CallRecord, (typeof transferFieldNames)[number]>;

/** What a call says of the human; all null without a call that was handed to one. */
export const pickTransfer = (call: CallRecord | undefined): TransferFields =>
  Object.fromEntries(transferFieldNames.map((name) => [name, call?.[name] ?? null])) as TransferFields;

/** What came of a row: what its talks said, and all of its calls in sum. Moments are timestamps. */
export interface RowResult
  extends
    TransferFields,
    Pick<
      CallRecord,
      | 'disposition'
      | 'answered_by'
      | 'summary'
      | 'sentiment'
      | 'extracted_variables'
      | 'started_at'
      | 'ended_at'
      | 'cost_usd'
      | 'transcript_url'
      | 'recording_url'
    > {
  talk_seconds: number;
  run_url: string | null;
}

/**
 * The result of a row from its calls, oldest first. Of what a later call says again the later value counts: disposition, summary and its
 * sentiment, who answered, the human who got the caller, each variable, the addresses. Seconds and costs are added up; without the cost of an ended call the sum is null.
 */
export function toRowResult(rowCalls: RowCall[]): RowResult {
  const calls = rowCalls.map(({ call }) => call);
  const last = (has: (call: CallRecord) => boolean): CallRecord | undefined => calls.findLast(has);
  const concluded = last(({ summary, sentiment }) => summary !== null || sentiment !== null);
  const ended = calls.filter(({ status }) => status === 'ended');
  return {
    disposition: last(({ disposition }) => disposition !== null)?.disposition ?? null,
    answered_by: last(({ answered_by: answeredBy }) => answeredBy !== null)?.answered_by ?? null,
    summary: concluded?.summary ?? null,
    sentiment: concluded?.sentiment ?? null,
    extracted_variables: Object.assign({}, ...calls.map((call) => call.extracted_variables)) as RowResult['extracted_variables'],
    talk_seconds: ended.reduce((sum, call) => sum + (call.talk_seconds ?? 0), 0),
    ...pickTransfer(last(({ transferred_to: human }) => human !== null)),
    cost_usd: addCosts(ended),
    started_at: calls.find(({ started_at: startedAt }) => startedAt !== null)?.started_at ?? null,
    ended_at: calls.some(({ status }) => status === 'live') ? null : (last(({ ended_at: endedAt }) => endedAt !== null)?.ended_at ?? null),
    run_url: calls.at(-1)?.run_url ?? null,
    transcript_url: last(({ transcript_url: url }) => url !== null)?.transcript_url ?? null,
    recording_url: last(({ recording_url: url }) => url !== null)?.recording_url ?? null,
  };
}

/** Rounded to a millionth, as the cost of a call. */
function addCosts(calls: CallRecord[]): number | null {
  if (calls.some((call) => call.cost_usd === null)) return null;
  return Math.round(calls.reduce((sum, call) => sum + (call.cost_usd ?? 0), 0) * 1_000_000) / 1_000_000;
}
