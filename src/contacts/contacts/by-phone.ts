import { isWithinLimitSql } from '../../accounts/organizations/plan-limits.ts';
import type { Context } from '../../context.ts';
import type { Statement } from '../../database/client.ts';
import type { contact } from '../../database/schema/contacts.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { findNamedTimeZone, mayNameTimeZoneSql } from './named-time-zone.ts';

/** While the condition holds, the statements change nothing. */
export interface SkipCondition {
  sql: string;
  parameters: (string | number)[];
}

/**
 * Statements for the caller's batch: they create the contact with `phone` (E.164) unless it exists, and add it to the list. A new contact
 * gets `tags`. At the plan's limit of contacts they create no contact and leave the list alone; at the limit of lists they create no list.
 * A contact that exists and is a member already costs no written row.
 */
export function ensureContactByPhoneStatements(
  { database, organization, clock }: Context,
  { phone, listName, tags }: { phone: string; listName: string | null; tags: string[] },
  unless: SkipCondition | null,
): Statement[] {
  const { id: organizationId, plan } = organization;
  const now = clock();
  const holds = unless ? ` AND NOT ${unless.sql}` : '';
  const guard = unless?.parameters ?? [];
  const contactStatements = [
    database.prepare(
      `INSERT INTO contact (organization_id, phone, tags, custom_fields, created_at, updated_at)
       SELECT ?, ?, ?, '{}', ?, ?
       WHERE NOT EXISTS (SELECT 1 FROM contact WHERE organization_id = ? AND phone = ?)
         AND coalesce((SELECT contacts_count FROM organization_usage WHERE organization_id = ?), 0) < ?${holds}`,
      organizationId,
      phone,
      JSON.stringify(tags),
      now,
      now,
      organizationId,
      phone,
      organizationId,
      plan.maxContacts,
      ...guard,
    ),
    database.prepare(
      `INSERT INTO organization_usage (organization_id, contacts_count) SELECT ?, 1 WHERE changes() > 0
       ON CONFLICT (organization_id) DO UPDATE SET contacts_count = contacts_count + 1`,
      organizationId,
    ),
  ];
  if (listName === null) return contactStatements;
  const selectContact = 'SELECT id FROM contact WHERE organization_id = ? AND phone = ?';
  const selectList = 'SELECT id FROM contact_list WHERE organization_id = ? AND name = ? AND deleted_at IS NULL';
  const listParameters = [organizationId, listName];
  const contactParameters = [organizationId, phone];
  return [
    ...contactStatements,
    database.prepare(
      `INSERT INTO contact_list (organization_id, name, metadata, column_schema, created_at, updated_at)
       SELECT ?, ?, '{}', '[]', ?, ? WHERE NOT EXISTS (${selectList}) AND EXISTS (${selectContact}) AND ${isWithinLimitSql('max_lists', '?', '?')}${holds}`,
      organizationId,
      listName,
      now,
      now,
      ...listParameters,
      ...contactParameters,
      organizationId,
      plan.maxLists,
      plan.maxLists,
      ...guard,
    ),
    database.prepare(
      `INSERT OR IGNORE INTO contact_list_member (list_id, contact_id, added_at)
       SELECT (${selectList}), (${selectContact}), ? WHERE EXISTS (${selectList}) AND EXISTS (${selectContact})${holds}`,
      ...listParameters,
      ...contactParameters,
      now,
      ...listParameters,
      ...contactParameters,
      ...guard,
    ),
    database.prepare(
      `UPDATE contact_list SET contacts_count = contacts_count + 1 WHERE id = (${selectList}) AND changes() > 0`,
      ...listParameters,
    ),
  ];
}

export interface PhoneContact {
  id: number;
  /** As `findNamedTimeZone` finds it. */
  timezone: string | null;
}

/** The contacts with these phone numbers (E.164), by number, in one indexed read. */
export async function findContactsByPhone({ database, organization }: Context, phones: string[]): Promise<Map<string, PhoneContact>> {
  if (!phones.length) return new Map();
  const rows = await database.all(
    database.prepare<{ phone: string; zones: string } & Pick<StoredRow<typeof contact>, 'id'>>(
      `SELECT c.phone, c.id, (SELECT json_group_object(f.key, f.value) FROM json_each(c.custom_fields) f WHERE ${mayNameTimeZoneSql('f.key')}) AS zones
       FROM json_each(?) j CROSS JOIN contact c
       WHERE c.organization_id = ? AND c.phone = j.value AND c.phone IS NOT NULL`,
      JSON.stringify(phones),
      organization.id,
    ),
  );
  return new Map(
    rows.map(({ phone, id, zones }) => [phone, { id, timezone: findNamedTimeZone(JSON.parse(zones) as Record<string, unknown>) }]),
  );
}
