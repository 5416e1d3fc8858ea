import type { Context } from '../context.ts';
import { toTimestamp } from '../library/time/clock.ts';
import { sumCalls, type CallGroupRow } from './call-store.ts';
import { requireFewGroups, toPeriodsJson } from './period-rows.ts';
import { splitRange, wholeRange, type TimeUnit } from './periods.ts';
import { readRange, type RangeQuery } from './range.ts';
import { sumJourneyUsage, sumUsage, type JourneyUsageRow, type UsageRow } from './usage-store.ts';

export interface UsageQuery extends RangeQuery {
  interval?: TimeUnit | undefined;
}

interface UsageRows {
  /** Calls and chats. */
  talks: CallGroupRow[];
  journeys: JourneyUsageRow[];
  usage: UsageRow[];
}

/** What the organization used in a range, together and, with an interval, over time. Reads counters alone. Throws 422 as `readRange` does. */
export async function readUsage(context: Context, query: UsageQuery) {
  const { interval = null } = query;
  const range = readRange(context, query, interval);
  const periods = interval === null ? [wholeRange(range)] : splitRange(range, interval);
  const { database, organization } = context;
  const json = toPeriodsJson(periods, range.timezone, interval !== 'hour');
  const [talks, journeys, usage] = await database.batch([
    sumCalls(database, organization.id, json, { by: ['direction'], filter: {}, hasChats: true }),
    sumJourneyUsage(database, organization.id, json),
    sumUsage(database, organization.id, json),
  ]);
  for (const rows of [talks, journeys, usage]) requireFewGroups(rows);
  const found: UsageRows = { talks, journeys, usage };
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
function byBucket({ talks, journeys, usage }: UsageRows): (place: number) => UsageRows {
  const grouped = {
    talks: Map.groupBy(talks, (row) => row.bucket),
    journeys: Map.groupBy(journeys, (row) => row.bucket),
    usage: Map.groupBy(usage, (row) => row.bucket),
  };
  return (place) => ({
    talks: grouped.talks.get(place) ?? [],
    journeys: grouped.journeys.get(place) ?? [],
    usage: grouped.usage.get(place) ?? [],
  });
}

function addUsage({ talks, journeys, usage }: UsageRows) {
  const calls = talks.filter(({ direction }) => direction !== 'chat');
  const chats = talks.filter(({ direction }) => direction === 'chat');
  const messages = usage.filter(({ kind }) => kind === 'message');
  const documents = usage.filter(({ kind }) => kind === 'document');
  return {
    calls: sum(calls, 'calls'),
    chats: sum(chats, 'calls'),
    call_minutes: Math.round((sum(calls, 'line_seconds') / 60) * 100) / 100,
    prompt_tokens: sum(talks, 'prompt_tokens') + sum(journeys, 'prompt_tokens'),
    completion_tokens: sum(talks, 'completion_tokens') + sum(journeys, 'completion_tokens'),
    cost_usd: sum(talks, 'cost_micros') / 1_000_000,
    calls_without_price: sum(talks, 'unpriced_calls'),
    journey_runs: sum(journeys, 'runs'),
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
