import { nullableTimestamp, toTimestamp } from '../../../library/time/clock.ts';
import type { HistoryRecord } from '../schemas.ts';

/** One attempt of one visit of a node. Stored as JSON, so fields are never renamed. Moments in epoch ms. */
export interface HistoryEntry {
  id: number;
  nodeId: string;
  nodeType: string;
  nodeName: string | null;
  visit: number;
  attempt: number;
  status: HistoryRecord['status'];
  input: unknown;
  output: unknown;
  error: { message: string; type: string } | null;
  startedAt: number;
  completedAt: number | null;
}

export const historyRecord = (entry: HistoryEntry): HistoryRecord => ({
  id: entry.id,
  node_id: entry.nodeId,
  node_type: entry.nodeType,
  node_name: entry.nodeName,
  visit: entry.visit,
  attempt: entry.attempt,
  status: entry.status,
  input: entry.input ?? null,
  output: entry.output ?? null,
  error: entry.error,
  started_at: toTimestamp(entry.startedAt),
  completed_at: nullableTimestamp(entry.completedAt),
  duration_ms: entry.completedAt === null ? null : entry.completedAt - entry.startedAt,
});

const entriesPerPart = 500;

const toPartKey = (organizationId: number, runId: number, part: number) => `runs/${organizationId}/${runId}/history-${part}.json`;

/** Reads a page of a history, oldest first. */
type ReadEntries = (offset: number, limit: number) => HistoryEntry[];

/** Writes an ended run's history to R2, 500 records a file, one file in memory at a time. Repeatable. */
export async function archiveHistory(
  bucket: R2Bucket,
  organizationId: number,
  runId: number,
  total: number,
  read: ReadEntries,
): Promise<void> {
  for (let part = 0; part * entriesPerPart < Math.max(1, total); part++) {
    const records = read(part * entriesPerPart, entriesPerPart).map(historyRecord);
    await bucket.put(toPartKey(organizationId, runId, part), JSON.stringify({ total, records }), {
      httpMetadata: { contentType: 'application/json' },
    });
  }
}

/** A page of an archived history, oldest first; null when nothing is archived. */
export async function readArchivedHistory(
  bucket: R2Bucket,
  organizationId: number,
  runId: number,
  page: { limit: number; offset: number },
): Promise<{ records: HistoryRecord[]; total: number } | null> {
  const partAt = async (part: number) => {
    const object = await bucket.get(toPartKey(organizationId, runId, part));
    return object && (await object.json<{ total: number; records: HistoryRecord[] }>());
  };
  const first = Math.floor(page.offset / entriesPerPart);
  const begun = (await partAt(first)) ?? (first > 0 ? await partAt(0) : null);
  if (!begun) return null;
  const { total } = begun;
  if (page.offset >= total) return { records: [], total };
  const records = [...begun.records];
  const end = Math.min(total, page.offset + page.limit);
  for (let part = first + 1; part * entriesPerPart < end; part++) records.push(...((await partAt(part))?.records ?? []));
  const skipped = page.offset - first * entriesPerPart;
  return { records: records.slice(skipped, skipped + page.limit), total };
}
