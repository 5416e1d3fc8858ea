import type { Context } from '../../context.ts';
import { ensureListNamed } from '../lists/lists.ts';
import { contactLimitMessage } from '../contacts/contact-limit.ts';
import type { RowFailure, UpsertRow } from './resolve-existing.ts';
import { parseUpsertFields } from '../contacts/parse-fields.ts';
import { toContactRecord } from '../contacts/records.ts';
import { UpsertRow as UpsertRowSchema } from '../contacts/schemas.ts';
import { requireStorableSize } from './parse-input.ts';
import { upsertRows } from './write.ts';

/**
 * Up to 5,000 rows of contact fields, folded in order. A row that cannot be used is its own error; the others come in. The list is there
 * afterwards also when nobody came in.
 */
export async function bulkUpsertContacts(context: Context, listName: string, rows: unknown[]) {
  const good: UpsertRow[] = [];
  const failures: RowFailure[] = [];
  for (const [index, row] of rows.entries()) {
    const reading = parseRow(row, context.organization.defaultCountry);
    if ('change' in reading) good.push({ index, change: reading.change });
    else failures.push({ index, ...reading.problem });
  }
  requireStorableSize(good);
  const outcome = await upsertRows(context, listName, good);
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

function parseRow(row: unknown, defaultCountry: string) {
  const parsed = UpsertRowSchema.safeParse(row);
  if (parsed.success) return parseUpsertFields(parsed.data, defaultCountry);
  const issue = parsed.error.issues[0]!;
  const field = issue.path[0];
  if (field === undefined) return { problem: { field: '', code: 'invalid_row', detail: issue.message } };
  return { problem: { field: String(field), code: `invalid_${String(field)}`, detail: `${issue.path.join('.')}: ${issue.message}` } };
}

/** A field of a row as it was sent, as far as it is one that can be shown. */
function toSentText(row: unknown, field: string): string | null {
  const value = typeof row === 'object' && row !== null ? (row as Record<string, unknown>)[field] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}
