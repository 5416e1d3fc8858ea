import type { SqlFragment } from '../../database/sql-fragment.ts';
import { textFields, type ContactChange } from '../contacts/contact.ts';

export const noContactQuery: SqlFragment = { sql: 'SELECT NULL AS id', parameters: [] };
export const unknownContactQuery: SqlFragment = { sql: 'SELECT NULL AS id WHERE 0', parameters: [] };
export const contactIdQuery = (id: number | null): SqlFragment => ({ sql: 'SELECT ? AS id', parameters: [id] });

/**
 * A subquery that answers the id of the contact to which an upsert of `change` would write nothing: it is found by phone, else by external id,
 * has all given values already, and is on the list, if one is named. No row when an upsert would write. `change` has text fields only.
 */
export function unchangedContactQuery(organizationId: number, change: ContactChange, listName: string | null): SqlFragment {
  const given = textFields.filter((field) => change[field] !== undefined);
  // Equality finds the index of a key; IS compares the other values, which may be null.
  const key = change.phone ? 'phone' : 'external_id';
  const membership = `EXISTS (SELECT 1 FROM contact_list l CROSS JOIN contact_list_member m
    WHERE l.organization_id = ? AND l.name = ? AND l.deleted_at IS NULL AND m.list_id = l.id AND m.contact_id = c.id)`;
  const conditions = [
    'c.organization_id = ?',
    ...given.map((field) => (field === key ? `c.${field} = ?` : `c.${field} IS ?`)),
    ...(listName === null ? [] : [membership]),
  ];
  return {
    sql: `SELECT c.id FROM contact c WHERE ${conditions.join(' AND ')}`,
    parameters: [organizationId, ...given.map((field) => change[field] ?? null), ...(listName === null ? [] : [organizationId, listName])],
  };
}

/** A subquery that answers the id of the only contact with this e-mail address, compared without case; null when there is none, or several. */
export const onlyContactWithEmailQuery = (organizationId: number, email: string): SqlFragment => ({
  sql: `SELECT iif(count(*) = 1, max(id), NULL) AS id FROM
    (SELECT id FROM contact WHERE organization_id = ? AND lower(email) = lower(?) AND email IS NOT NULL LIMIT 2)`,
  parameters: [organizationId, email.trim()],
});
