import type { CallRecord } from '../../simulators/telephony/call-record.ts';
import { inTwoCalls, maxAtOnce, type CallLedger } from './call-ledger.ts';
import type { Downtime } from './kill-log.ts';
import type { Kind, Person } from './soak-people.ts';

/** A row of `voice_agent_run`. */
export interface StoredRun {
  id: number;
  attempt_key: string;
  phone: string;
  campaign_id: number | null;
  is_completed: number;
  outcome: string | null;
  reason: string | null;
  has_transcript: number;
}

/** The state of a completed campaign, as the service, its database and the carrier report it. */
export interface CampaignEvidence {
  campaignId: number;
  people: readonly Person[];
  rows: readonly any[];
  runs: readonly StoredRun[];
  ledger: CallLedger;
  maxConcurrency: number;
  downtimes: readonly Downtime[];
}

type Row = Record<string, any>;
const endedAs = (state: string, outcome: string | null, reason: RegExp) => (row: Row) =>
  row.state === state && row.outcome === outcome && reason.test(row.reason ?? '');
const isReached = endedAs('completed', 'completed', /^$/);

const expectedEnd: Record<Kind, (row: Row) => boolean> = {
  person: isReached,
  first_post_fails: isReached,
  answer_lost: isReached,
  hangs_up: isReached,
  disordered: isReached,
  end_untold: isReached,
  busy: endedAs('failed', 'busy', /^busy: ./),
  no_answer: endedAs('failed', 'no_answer', /^no_answer: ./),
  voicemail: endedAs('failed', 'voicemail', /^voicemail: ./),
  // Only the callback tells why the call failed, and a kill may lose the callback.
  failed: endedAs('failed', 'failed', /^(number_refused|failed): ./),
  suppressed: endedAs('skipped', null, /^suppressed: ./),
  duplicate: endedAs('skipped', null, /^duplicate: ./),
  bad_phone: endedAs('failed', null, /^letters: ./),
};
const isLeftAlone = endedAs('failed', 'failed', /^failed: .*(agent_not_heard: .|before the agent was on it)/);
const undialled: ReadonlySet<Kind> = new Set(['suppressed', 'duplicate', 'bad_phone']);

const isHeard = ({ transcript }: CallRecord): boolean => transcript.some(({ speaker }) => speaker === 'agent');

/** Whether the person answered, the service was down during the call, and the agent said nothing. */
export const isUnattended = (call: CallRecord, downtimes: readonly Downtime[]): boolean =>
  call.answered_at !== null &&
  !isHeard(call) &&
  downtimes.some(({ from, to }) => call.answered_at! <= to && (call.ended_at ?? Infinity) >= from);

/** Rows that are missing, did not end as whoever answers there makes them end, or do not say why. */
export function faultsOfRows({ campaignId, people, rows, ledger, downtimes }: CampaignEvidence): string[] {
  const faults: string[] = [];
  const numbers = rows.map((row) => row.row_number);
  if (numbers.join() !== people.map(({ rowNumber }) => rowNumber).join())
    faults.push(`not every row is there once: ${numbers.length} rows`);
  const calls = Map.groupBy(ledger.calls, ({ attempt_key: key }) => rowNumberOf(key, campaignId));
  for (const row of rows) {
    const person = people[row.row_number - 1]!;
    const own = calls.get(row.row_number) ?? [];
    const isAsExpected = expectedEnd[person.kind](row) || (isLeftAlone(row) && own.some((call) => isUnattended(call, downtimes)));
    const isPlain = row.phone === person.phone && row.next_attempt_at === null;
    if (!isAsExpected || !isPlain) faults.push(`row ${row.row_number} (${person.kind}): ${JSON.stringify({ row, own })}`);
    if (own.length > row.run_ids.length || own.length > 0 === undialled.has(person.kind))
      faults.push(`row ${row.row_number} (${person.kind}) was dialled ${own.length} times and has runs ${row.run_ids}`);
  }
  return faults;
}

/** Attempts that were dialled twice, people who were called twice or were in two calls, and more live calls than the limit. */
export function faultsOfLedger({ campaignId, ledger, maxConcurrency }: CampaignEvidence): string[] {
  const faults = ledger.attempts_dialled_twice.map((key) => `attempt ${key} was dialled twice`);
  for (const phone of inTwoCalls(ledger.calls)) faults.push(`${phone} was in two live calls`);
  const own = ledger.calls.filter(({ attempt_key: key }) => rowNumberOf(key, campaignId) !== null);
  for (const [phone, calls] of Map.groupBy(own, ({ to }) => to))
    if (calls.length > 1) faults.push(`${phone} was called ${calls.length} times: ${JSON.stringify(calls)}`);
  const most = maxAtOnce(own);
  if (most > maxConcurrency) faults.push(`${most} calls were live at once, and ${maxConcurrency} may be`);
  return faults;
}

/** Calls without a run of their own, and runs that no row has, that are not over, or that say otherwise than the carrier. */
export function faultsOfRuns({ campaignId, rows, runs, ledger, downtimes }: CampaignEvidence): string[] {
  const faults: string[] = [];
  const own = new Map(runs.filter((run) => run.campaign_id === campaignId).map((run) => [run.attempt_key, run]));
  const calls = Map.groupBy(ledger.calls, ({ attempt_key: key }) => key ?? '');
  for (const [key, [call]] of calls)
    if (rowNumberOf(key, campaignId) !== null && own.get(key)?.phone !== call!.to) faults.push(`call ${key} to ${call!.to} has no run`);
  for (const run of own.values()) {
    const fault = faultOfRun(run, calls.get(run.attempt_key)?.[0], downtimes);
    if (fault) faults.push(`run ${run.id} ${fault}: ${JSON.stringify({ run, call: calls.get(run.attempt_key) })}`);
  }
  const ofRows = rows.flatMap((row) => row.run_ids.map((id: number) => `${id} of row ${row.row_number}`));
  const ofKeys = [...own.values()].map((run) => `${run.id} of row ${rowNumberOf(run.attempt_key, campaignId)}`);
  for (const name of difference(ofRows, ofKeys)) faults.push(`the rows name run ${name}, which is not there`);
  for (const name of difference(ofKeys, ofRows)) faults.push(`the rows do not name run ${name}`);
  return faults;
}

function faultOfRun(run: StoredRun, call: CallRecord | undefined, downtimes: readonly Downtime[]): string | null {
  if (run.is_completed !== 1 || run.outcome === null) return 'is not completed';
  if (call === undefined) return run.outcome === 'failed' && run.reason !== null ? null : 'has an outcome without a call';
  if (call.ended_at === null) return 'is completed while its call is live';
  if (call.answered_by === 'person' && isHeard(call))
    return run.outcome === 'completed' && run.has_transcript === 1 ? null : 'does not tell of the talk';
  if (isUnattended(call, downtimes)) return null;
  const outcome = call.answered_by === 'machine' ? 'voicemail' : call.status;
  return run.outcome === outcome ? null : `has an outcome other than ${outcome}`;
}

/** The row number in an attempt key: 12 of `campaign:7:12:1`; null for another owner. */
function rowNumberOf(key: string | null, campaignId: number): number | null {
  const [kind, id, row] = (key ?? '').split(':');
  return kind === 'campaign' && Number(id) === campaignId ? Number(row) : null;
}

const difference = (ones: string[], others: string[]): string[] => {
  const known = new Set(others);
  return ones.filter((one) => !known.has(one));
};
