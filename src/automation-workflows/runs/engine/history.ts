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

/**
 * A history up to this length stays in the run's row, in characters. Beyond it an R2 object is cheaper: writing one costs as much as D1 takes
 * for 2 KB in the 90 days of RETENTION_DAYS.
 */
const maxPackedLength = 2000;

/** The fields of a `HistoryEntry`, in this order. Stored, so the order never changes. */
type PackedEntry = [
  nodeId: string,
  nodeType: string,
  nodeName: string | null,
  visit: number,
  attempt: number,
  status: HistoryEntry['status'],
  input: unknown,
  output: unknown,
  error: HistoryEntry['error'],
  startedAt: number,
  completedAt: number | null,
];

/** The history of an ended run as JSON for its row; null when it is too long. */
export function packHistory(entries: readonly HistoryEntry[]): string | null {
  const packed = entries.map((entry): PackedEntry => [
    entry.nodeId,
    entry.nodeType,
    entry.nodeName,
    entry.visit,
    entry.attempt,
    entry.status,
    entry.input,
    entry.output,
    entry.error,
    entry.startedAt,
    entry.completedAt,
  ]);
  const text = JSON.stringify(packed);
  return text.length > maxPackedLength ? null : text;
}

/** A page of the history in a run's row, oldest first. */
export function readPackedHistory(text: string, { limit, offset }: { limit: number; offset: number }) {
  const packed = JSON.parse(text) as PackedEntry[];
  const records = packed.slice(offset, offset + limit).map((fields, index) => {
    const [nodeId, nodeType, nodeName, visit, attempt, status, input, output, error, startedAt, completedAt] = fields;
    const id = offset + index + 1;
    return historyRecord({ id, nodeId, nodeType, nodeName, visit, attempt, status, input, output, error, startedAt, completedAt });
  });
  return { records, total: packed.length };
}

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
