import type { Context } from '../../context.ts';
import type { Statement } from '../../database/client.ts';

/**
 * Tables along whose ids cursors move: an id that were given twice would be passed over. Their newest row stays, as one of nobody that says
 * nothing and is handled.
 */
const blankColumns: Readonly<Record<string, string>> = {
  event:
    "organization_id = 0, event_type = '', phone = NULL, contact_id = NULL, data = '{}', sender_id = NULL, occurred_at = NULL, note = NULL",
  webhook_delivery: "organization_id = 0, trigger_id = 0, delivery_id = 'blank:' || id, contact_id = NULL, payload = '{}', note = NULL",
};

export const keepsNewestRow = (table: string): boolean => table in blankColumns;

/** For conditions: all rows of the table but the newest. */
export const isNotNewestSql = (table: string): string => `id < (SELECT max(id) FROM ${table})`;

/** Makes the newest row one of nobody, if it is the organization's by `condition`. */
export const blankNewest = ({ database, organization, clock }: Context, table: string, condition: string): Statement =>
  database.prepare(
    `UPDATE ${table} SET ${blankColumns[table]}, handled_at = coalesce(handled_at, ?2)
     WHERE id = (SELECT max(id) FROM ${table}) AND ${condition} RETURNING 1`,
    organization.id,
    clock(),
  );
