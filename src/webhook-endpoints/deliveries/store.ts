import type { Database, Statement } from '../../database/client.ts';
import type { webhookMessage } from '../../database/schema/webhook-endpoints.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { countLimit } from '../../http/pagination.ts';

/** `data` and `attempts` are JSON. Moments in epoch ms. */
export type MessageRow = StoredRow<typeof webhookMessage>;

const isOfEndpoint = 'm.organization_id = ?1 AND m.endpoint_id = ?2';

export const findMessage = (database: Database, organizationId: number, endpointId: number, sequence: number): Promise<MessageRow | null> =>
  database.first(
    database.prepare<MessageRow>(
      `SELECT * FROM webhook_message m WHERE ${isOfEndpoint} AND m.sequence = ?3`,
      organizationId,
      endpointId,
      sequence,
    ),
  );

export interface MessageFilter {
  status: MessageRow['status'] | undefined;
  type: string | undefined;
  eventId: string | undefined;
  /** Epoch ms: not before, and before. */
  from: number | undefined;
  to: number | undefined;
  before: number | undefined;
  limit: number;
  offset: number;
}

/** A filter by something else than time reads this many of the newest deliveries of the time. */
const maxFilteredMessages = 10_000;

/** One page, newest first, with one row more than `limit` when another page follows. `isCapped`: there may be more than `total`. */
export async function listMessages(
  database: Database,
  organizationId: number,
  endpointId: number,
  filter: MessageFilter,
): Promise<{ rows: MessageRow[]; total: number; isCapped: boolean }> {
  const { status, type, eventId } = filter;
  const isFiltered = status !== undefined || type !== undefined || eventId !== undefined;
  const inTime = `FROM webhook_message m WHERE ${isOfEndpoint} AND m.sequence >= ?3 AND m.sequence < ?4`;
  const newest = `FROM (SELECT * ${inTime} ORDER BY m.sequence DESC LIMIT ${maxFilteredMessages}) m
    WHERE (?5 IS NULL OR m.status = ?5) AND (?6 IS NULL OR m.type = ?6) AND (?7 IS NULL OR m.event_id = ?7)`;
  const matching = isFiltered ? newest : inTime;
  const time = [organizationId, endpointId, filter.from ?? 0, filter.to ?? Number.MAX_SAFE_INTEGER] as const;
  const parameters = isFiltered ? [...time, status ?? null, type ?? null, eventId ?? null] : [...time];
  const place = (number: number) => `?${parameters.length + number}`;
  const [rows, counted, beyond] = await database.batch([
    database.prepare<MessageRow>(
      `SELECT m.* ${matching} AND m.sequence < ${place(1)} ORDER BY m.sequence DESC LIMIT ${place(2)} OFFSET ${place(3)}`,
      ...parameters,
      filter.before ?? Number.MAX_SAFE_INTEGER,
      filter.limit + 1,
      filter.offset,
    ),
    database.prepare<{ total: number }>(`SELECT count(*) AS total FROM (SELECT 1 ${matching} LIMIT ${countLimit + 1})`, ...parameters),
    database.prepare(`SELECT 1 ${inTime} LIMIT 1 OFFSET ${maxFilteredMessages}`, ...time),
  ]);
  const { total } = counted[0]!;
  return { rows, total: Math.min(total, countLimit), isCapped: total > countLimit || (isFiltered && beyond.length > 0) };
}

const ended = "m.status IN ('delivered', 'failed')";
const asNew = "status = 'pending', tries = 0, due_at = ?3, ended_at = NULL";

/** Has one message that has ended sent again, with the attempts of a new one. Answers a row when it had ended. */
export const replayOne = (database: Database, organizationId: number, endpointId: number, sequence: number, now: number): Statement =>
  database.prepare(
    `UPDATE webhook_message AS m SET ${asNew} WHERE ${isOfEndpoint} AND m.sequence = ?4 AND ${ended} RETURNING sequence`,
    organizationId,
    endpointId,
    now,
    sequence,
  );

export interface ReplayRange {
  /** Epoch ms: not before, and before. */
  from: number;
  to: number;
  /** Null: both. */
  status: 'delivered' | 'failed' | null;
}

/** Looks at the oldest `limit` messages of the range, and has those of the status sent again. Answers how many, and the last that was looked at. */
export const replayPage = (
  database: Database,
  organizationId: number,
  endpointId: number,
  { from, to, status }: ReplayRange,
  { limit, now }: { limit: number; now: number },
) => {
  const page = `SELECT m.sequence, m.status FROM webhook_message m WHERE ${isOfEndpoint} AND m.sequence >= ?4 AND m.sequence < ?5
    ORDER BY m.sequence LIMIT ${limit}`;
  const time = [organizationId, endpointId, now, from, to] as const;
  return [
    database.prepare<{ last: number | null; seen: number; replayed: number }>(
      `SELECT max(sequence) AS last, count(*) AS seen, coalesce(sum(${ended} AND (?6 IS NULL OR m.status = ?6)), 0) AS replayed FROM (${page}) m`,
      ...time,
      status,
    ),
    database.prepare(
      `UPDATE webhook_message AS m SET ${asNew} WHERE ${isOfEndpoint} AND ${ended} AND (?6 IS NULL OR m.status = ?6)
         AND m.sequence IN (SELECT page.sequence FROM (${page}) page)`,
      ...time,
      status,
    ),
  ] as const;
};

/** Records an event for one endpoint alone, whatever types it wants. */
export const insertMessage = (
  database: Database,
  organizationId: number,
  endpointId: number,
  event: { eventId: string; type: string; subject: string; data: Record<string, unknown> },
  now: number,
): Statement<MessageRow> =>
  database.prepare<MessageRow>(
    `INSERT INTO webhook_message (organization_id, endpoint_id, sequence, event_id, type, subject, data, status, due_at, created_at)
     SELECT ?1, ?2, max(?7, coalesce((SELECT max(m.sequence) FROM webhook_message m WHERE ${isOfEndpoint}), 0) + 1), ?3, ?4, ?5, ?6, 'pending', ?7, ?7
     RETURNING *`,
    organizationId,
    endpointId,
    event.eventId,
    event.type,
    event.subject,
    JSON.stringify(event.data),
    now,
  );

/** The message of an endpoint that was inserted last. */
export const selectNewest = (database: Database, organizationId: number, endpointId: number): Statement<MessageRow> =>
  database.prepare<MessageRow>(
    `SELECT * FROM webhook_message m WHERE ${isOfEndpoint} ORDER BY m.sequence DESC LIMIT 1`,
    organizationId,
    endpointId,
  );
