import { expect } from 'vitest';
import { rowsOf } from './kill-evidence.ts';
import type { KillableService } from './killable-service.ts';

/** Reads a path of the API; throws when the answer is no success. */
type Read = (path: string) => Promise<any>;

const sum = (rows: readonly any[], of: (row: any) => number): number => rows.reduce((total, row) => total + of(row), 0);

const countBy = (rows: readonly any[], of: (row: any) => string | null): Record<string, number> => {
  const groups = Map.groupBy(
    rows.filter((row) => of(row) !== null),
    (row) => of(row)!,
  );
  return Object.fromEntries([...groups].map(([name, own]) => [name, own.length]));
};

const toMicros = (usd: number | null): number => Math.round((usd ?? 0) * 1_000_000);

interface StoredCall {
  row: Record<string, any>;
  result: any;
}

/** The ended calls and chats, read one by one from the database of a service with one organization. A call that was given back undialled is none. */
function endedCalls({ stateDirectory }: KillableService): StoredCall[] {
  const rows = rowsOf(
    stateDirectory,
    `SELECT agent_id, campaign_id, automation_workflow_id, own_number, call_type, mode, outcome, disposition, talk_seconds, result
     FROM voice_agent_run WHERE is_completed = 1`,
  );
  const all = rows.map((row) => ({ row, result: JSON.parse(row['result'] ?? '{}') }));
  return all.filter(({ result: { gathered_context: gathered } }) => !gathered?.returned || gathered.extracted_variables?.returned);
}

/** What `GET /statistics/calls` says of these calls when they are counted one by one. */
function countCalls(calls: readonly StoredCall[]): Record<string, unknown> {
  const rows = calls.map(({ row }) => row);
  return {
    calls: calls.length,
    answered: rows.filter(({ outcome }) => outcome === 'completed').length,
    talk_seconds: sum(rows, ({ talk_seconds: seconds }) => seconds ?? 0),
    cost_usd: sum(calls, ({ result }) => toMicros(result.cost_info.total_cost_usd)) / 1_000_000,
    calls_without_price: calls.filter(({ result }) => result.cost_info.total_cost_usd === null).length,
    outcomes: countBy(rows, ({ outcome }) => outcome),
    dispositions: countBy(rows, ({ disposition }) => disposition),
  };
}

const groupings = {
  workflow_id: 'agent_id',
  campaign_id: 'campaign_id',
  automation_workflow_id: 'automation_workflow_id',
  own_number: 'own_number',
  direction: 'call_type',
  outcome: 'outcome',
  disposition: 'disposition',
};

/** Requires that the statistics of calls equal a full count of the stored calls, together and by all that they are grouped by. Answers the number of calls. */
export async function verifyCallStatistics(service: KillableService, read: Read): Promise<number> {
  const calls = endedCalls(service).filter(({ row }) => row['mode'] !== 'textchat');
  const { totals, groups } = await read(`/statistics/calls?group_by=${Object.keys(groupings).join(',')}`);
  expect(totals).toMatchObject(countCalls(calls));
  const keyOf = (values: unknown[]) => JSON.stringify(values.map((value) => value ?? null));
  const counted = [...Map.groupBy(calls, ({ row }) => keyOf(Object.values(groupings).map((column) => row[column])))];
  const shown = (groups as any[]).map((group) => [keyOf(Object.keys(groupings).map((name) => group[name])), group] as const);
  expect(Object.fromEntries(shown)).toMatchObject(Object.fromEntries(counted.map(([key, own]) => [key, countCalls(own)])));
  expect(shown.length, 'groups of calls').toBe(counted.length);
  return calls.length;
}

/** Requires that the statistics of usage equal a full count of the stored calls, chats, runs, messages and documents. */
export async function verifyUsageStatistics(service: KillableService, read: Read): Promise<void> {
  const stored = (sql: string) => rowsOf(service.stateDirectory, sql);
  const work = endedCalls(service);
  const calls = work.filter(({ row }) => row['mode'] !== 'textchat');
  const runs = stored('SELECT trail FROM automation_run WHERE is_test = 0 AND completed_at IS NOT NULL');
  const messages = stored("SELECT provider FROM message WHERE message_id IS NOT NULL AND status <> 'failed'");
  const documents = stored('SELECT size_bytes FROM knowledge_document WHERE generation > 0');
  const tokens = (place: 0 | 1, name: 'prompt' | 'completion') =>
    sum(work, ({ result }) => result.cost_info.llm_tokens?.[name] ?? 0) +
    sum(runs, ({ trail }) => JSON.parse(trail ?? '{}').tokens?.[place] ?? 0);
  const seconds = sum(calls, ({ result }) => result.cost_info.call_duration_seconds ?? 0);
  const { totals } = await read('/statistics/usage');
  expect(totals).toEqual({
    calls: calls.length,
    chats: work.length - calls.length,
    call_minutes: Math.round((seconds / 60) * 100) / 100,
    prompt_tokens: tokens(0, 'prompt'),
    completion_tokens: tokens(1, 'completion'),
    cost_usd: sum(work, ({ result }) => toMicros(result.cost_info.total_cost_usd)) / 1_000_000,
    calls_without_price: work.filter(({ result }) => result.cost_info.total_cost_usd === null).length,
    journey_runs: runs.length,
    messages: messages.length,
    messages_by_provider: countBy(messages, ({ provider }) => provider),
    documents: documents.length,
    document_bytes: sum(documents, ({ size_bytes: bytes }) => bytes),
  });
}

/** A run with the ids of the nodes in its history. */
export interface RunPath {
  run: any;
  nodeIds: ReadonlySet<string>;
}

/** Requires that the funnel of a journey equals a full count of its runs and their histories. All runs have completed. */
export async function verifyJourneyStatistics(read: Read, workflowId: number, paths: readonly RunPath[]): Promise<void> {
  const { nodes, ...funnel } = await read(`/statistics/journeys/${workflowId}`);
  const runs = paths.map(({ run }) => run);
  expect(funnel, `journey ${workflowId}`).toMatchObject({
    runs: runs.length,
    live: 0,
    ended: { completed: runs.length, failed: 0, cancelled: 0 },
    without_nodes: 0,
    outcomes: countBy(runs, ({ outcome }) => outcome),
  });
  const reached = countBy(
    paths.flatMap(({ nodeIds }) => [...nodeIds]),
    (nodeId) => nodeId,
  );
  const shown = Object.fromEntries((nodes as any[]).map(({ node_id: nodeId, reached: count }) => [nodeId, count]));
  expect(shown, `nodes of journey ${workflowId}`).toEqual(reached);
}
