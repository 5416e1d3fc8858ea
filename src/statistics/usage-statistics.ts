import type { Context } from '../context.ts';
import { toTimestamp } from '../library/time/clock.ts';
import { sumWork, type WorkRow } from './call-store.ts';
import { requireFewGroups, toPeriodsJson } from './period-rows.ts';
import { splitRange, wholeRange, type TimeUnit } from './periods.ts';
import { readRange, type RangeQuery } from './range.ts';
import { sumUsage, type UsageRow } from './usage-store.ts';

export interface UsageQuery extends RangeQuery {
  interval?: TimeUnit | undefined;
}

interface UsageRows {
  /** Calls, chats and runs. */
  work: WorkRow[];
  /** Messages and documents. */
  usage: UsageRow[];
}

/** What the organization used in a range, together and, with an interval, over time. Reads counters alone. Throws 422 as `readRange` does. */
export async function readUsage(context: Context, query: UsageQuery) {
  const { interval = null } = query;
  const range = readRange(context, query, interval);
  const periods = interval === null ? [wholeRange(range)] : splitRange(range, interval);
  const { database, organization } = context;
  const json = toPeriodsJson(periods, range.timezone, interval !== 'hour');
  const [work, usage] = await database.batch([sumWork(database, organization.id, json, null), sumUsage(database, organization.id, json)]);
  requireFewGroups(usage, 'ask for a shorter range, or for a longer `interval`');
  const found: UsageRows = { work, usage };
  const inBucket = byBucket(found);
  return {
    from: toTimestamp(range.from),
    to: toTimestamp(range.to),
    timezone: range.timezone,
    totals: addUsage(found),
    over_time:
      interval === null
        ? []
        : periods.map(({ label, start }, place) => Object.assign({ period: label, start: toTimestamp(start) }, addUsage(inBucket(place)))),
  };
}

/** The rows of each bucket, by its place. */
function byBucket({ work, usage }: UsageRows): (place: number) => UsageRows {
  const grouped = { work: Map.groupBy(work, (row) => row.bucket), usage: Map.groupBy(usage, (row) => row.bucket) };
  return (place) => ({ work: grouped.work.get(place) ?? [], usage: grouped.usage.get(place) ?? [] });
}

function addUsage({ work, usage }: UsageRows) {
  const chats = work.filter(({ direction }) => direction === 'chat');
  const runs = work.filter(({ direction }) => direction === 'run');
  const calls = work.filter(({ direction }) => direction !== 'chat' && direction !== 'run');
  const messages = usage.filter(({ kind }) => kind === 'message');
  const documents = usage.filter(({ kind }) => kind === 'document');
  return {
    calls: sum(calls, 'calls'),
    chats: sum(chats, 'calls'),
    call_minutes: Math.round((sum(calls, 'line_seconds') / 60) * 100) / 100,
    prompt_tokens: sum(work, 'prompt_tokens'),
    completion_tokens: sum(work, 'completion_tokens'),
    cost_usd: sum(work, 'cost_micros') / 1_000_000,
    calls_without_price: sum(work, 'unpriced_calls'),
    journey_runs: sum(runs, 'calls'),
    messages: sum(messages, 'items'),
    messages_by_provider: byProvider(messages),
    documents: sum(documents, 'items'),
    document_bytes: sum(documents, 'bytes'),
  };
}

const sum = <Name extends string>(rows: readonly Record<Name, number>[], name: Name): number =>
  rows.reduce((total, row) => total + row[name], 0);

const byProvider = (messages: readonly UsageRow[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(messages, ({ name }) => name)].map(([name, own]) => [name, sum(own, 'items')]));
