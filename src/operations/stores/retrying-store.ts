import type { Database, Statement } from '../../database/client.ts';
import type { Source } from './source.ts';

export const retriedRecords: Source = {
  columns: {
    key: 'r.key',
    id: 'r.rowid',
    at: 'r.first_failed_at',
    state: "'retrying'",
    name: "r.message ->> 'kind'",
    why: 'r.reason',
    tries: 'r.tries',
    next_try_at: 'r.next_try_at',
  },
  // A record that a person has sent again has neither tries nor a reason.
  from: 'failed_message r INDEXED BY failed_message_organization WHERE r.organization_id = ?1 AND (r.tries > 0 OR r.reason IS NOT NULL)',
  order: 'moment',
};

/** Has a failed record tried again at the next chance, and answers its message. No row: it has been handled. */
export const retryFailureStatement = (
  database: Database,
  organizationId: number,
  key: string,
  now: number,
): Statement<{ message: string }> =>
  database.prepare<{ message: string }>(
    'UPDATE failed_message SET next_try_at = ?3 WHERE key = ?1 AND organization_id = ?2 RETURNING message',
    key,
    organizationId,
    now,
  );
