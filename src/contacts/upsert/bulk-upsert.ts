import type { Context } from '../../context.ts';
import { ensureListNamed } from '../lists/lists.ts';
import { contactLimitMessage } from '../contacts/write-errors.ts';
import type { RowFailure, UpsertRow } from './resolve-existing.ts';
import { toContactRecord } from '../contacts/records.ts';
import { parseRow, requireStorableSize } from './parse-input.ts';
import { upsertRows } from './write.ts';

/**
 * Upserts up to 5,000 rows in order and adds their contacts to the list, which is created if missing. An unusable row is reported in
 * `errors`; the other rows are stored. Throws 403 at the plan's limit of lists.
 *
 * @example await bulkUpsertContacts(context, 'Customers', [{ phone: '(415) 555-0123', plan: 'gold' }])
 */
export async function bulkUpsertContacts(context: Context, listName: string, rows: unknown[]) {
  const valid: UpsertRow[] = [];
  const failures: RowFailure[] = [];
  for (const [index, row] of rows.entries()) {
    const reading = parseRow(row, context.organization.defaultCountry);
    if ('change' in reading) valid.push({ index, change: reading.change });
    else failures.push({ index, ...reading.error });
  }
  requireStorableSize(valid);
  const outcome = await upsertRows(context, listName, valid);
  failures.push(...outcome.failures);
  const isListCreated = outcome.list ? outcome.isListCreated : await ensureListNamed(context, listName);
  failures.sort((one, other) => one.index - other.index);
  const created = outcome.people.filter((person) => person.isCreated).length;
  return {
    created,
    updated: outcome.people.length - created,
    failed: failures.length,
    errors: failures.map(({ index, code, detail }) => ({
      index,
      phone: toSentText(rows[index], 'phone'),
      external_id: toSentText(rows[index], 'external_id'),
      detail: code,
      message: code === 'contact_limit_reached' ? contactLimitMessage(context) : detail,
    })),
    list_created: isListCreated,
    contacts: outcome.people.map(({ contact }) => toContactRecord(contact)),
  };
}

/** A field of a row as sent; null unless it is a text or a number. */
function toSentText(row: unknown, field: string): string | null {
  const value = typeof row === 'object' && row !== null ? (row as Record<string, unknown>)[field] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
