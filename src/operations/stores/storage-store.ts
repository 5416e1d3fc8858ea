import type { Database, Statement } from '../../database/client.ts';

/** The organization's contacts, as they are counted against the plan. */
export const contactCount = (database: Database, organizationId: number): Statement<{ contacts_count: number }> =>
  database.prepare<{ contacts_count: number }>('SELECT contacts_count FROM organization_usage WHERE organization_id = ?', organizationId);

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
