import type { Context } from '../../context.ts';
import { conflict, forbidden, invalid, invalidAt, type ServiceError } from '../../library/errors.ts';
import { toIssues } from '../../library/json/zod-issues.ts';
import { contactLimitMessage } from '../contacts/write-errors.ts';
import type { RowFailure } from './resolve-existing.ts';
import { parseUpsertFields } from './parse-input.ts';
import { toContactRecord, type ContactRecord } from '../contacts/records.ts';
import { toListRecord } from '../lists/records.ts';
import { UpsertRow, type ContactFields } from '../contacts/schemas.ts';
import { previewUpsert, upsertRows } from './write.ts';

/**
 * Upserts one contact, found by phone, else by external id, else created, and adds it to the list if one is named.
 * Throws 422 for unusable fields, 409 `identity_conflict` when phone and external id belong to two contacts, 403 at a limit of the plan.
 *
 * @example await upsertContact(context, { phone: '(415) 555-0123', external_id: 'c-17' }, 'Customers')
 */
export async function upsertContact(context: Context, fields: ContactFields, listName: string | null) {
  const change = parseInput(context, fields);
  const { people, failures, list, isListCreated } = await upsertRows(context, listName, [{ index: 0, change }]);
  if (failures[0]) throw toServiceError(context, failures[0]);
  const { contact, isCreated } = people[0]!;
  return {
    contact: toContactRecord(contact),
    contact_list: list && toListRecord(list),
    contact_created: isCreated,
    list_created: isListCreated,
  };
}

/** The contact that `upsertContact` would answer, without writing; a new contact has the id 0. Throws as `upsertContact` does. */
export async function previewContact(context: Context, fields: ContactFields): Promise<{ contact: ContactRecord; isCreated: boolean }> {
  const preview = await previewUpsert(context, { index: 0, change: parseInput(context, fields) });
  if ('failure' in preview) throw toServiceError(context, preview.failure);
  return { contact: toContactRecord(preview.contact), isCreated: preview.isCreated };
}

function parseInput(context: Context, fields: ContactFields) {
  const parsed = UpsertRow.safeParse(fields);
  if (!parsed.success) throw invalid(toIssues(parsed.error, ['body']));
  const reading = parseUpsertFields(parsed.data, context.organization.defaultCountry);
  if ('error' in reading) throw toServiceError(context, reading.error);
  return reading.change;
}

/** As `upsertContact`, with a list that is created if missing. */
export async function upsertIntoList(context: Context, fields: ContactFields, listName: string) {
  const { contact_list, ...rest } = await upsertContact(context, fields, listName);
  return { ...rest, contact_list: contact_list! };
}

function toServiceError(context: Context, { code, detail, field }: Omit<RowFailure, 'index'>): ServiceError {
  if (code === 'contact_limit_reached') return forbidden(contactLimitMessage(context), code);
  if (field === undefined) return conflict(detail, code);
  return invalidAt(['body', field], detail, code);
}
