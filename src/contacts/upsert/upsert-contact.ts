import type { Context } from '../../context.ts';
import { conflict, forbidden, invalid, invalidAt, type ServiceError } from '../../library/errors.ts';
import { toIssues } from '../../library/json/zod-issues.ts';
import { contactLimitMessage } from '../contacts/contact-limit.ts';
import type { RowFailure } from './resolve-existing.ts';
import { parseUpsertFields } from '../contacts/parse-fields.ts';
import { toContactRecord, toListRecord, type ContactRecord } from '../contacts/records.ts';
import { UpsertRow, type ContactFields } from '../contacts/schemas.ts';
import { previewUpsert, upsertRows } from './write.ts';

/**
 * One contact, found by phone, else by external id, else created; a member of the list either way, when one is named.
 * Throws 422 for fields that cannot be used, 409 `identity_conflict`, 403 beyond the plan.
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

/** What `upsertContact` would make of the contact; nothing is written, and a contact that would be new has the id 0. Throws the same. */
export async function previewContact(context: Context, fields: ContactFields): Promise<{ contact: ContactRecord; isCreated: boolean }> {
  const preview = await previewUpsert(context, { index: 0, change: parseInput(context, fields) });
  if ('failure' in preview) throw toServiceError(context, preview.failure);
  return { contact: toContactRecord(preview.contact), isCreated: preview.isCreated };
}

function parseInput(context: Context, fields: ContactFields) {
  const parsed = UpsertRow.safeParse(fields);
  if (!parsed.success) throw invalid(toIssues(parsed.error, ['body']));
  const reading = parseUpsertFields(parsed.data, context.organization.defaultCountry);
  if ('problem' in reading) throw toServiceError(context, reading.problem);
  return reading.change;
}

/** The same with a list that is always there afterwards. */
export async function upsertIntoList(context: Context, fields: ContactFields, listName: string) {
  const { contact_list, ...rest } = await upsertContact(context, fields, listName);
  return { ...rest, contact_list: contact_list! };
}

function toServiceError(context: Context, { code, detail, field }: Omit<RowFailure, 'index'>): ServiceError {
  if (code === 'contact_limit_reached') return forbidden(contactLimitMessage(context), code);
  if (field === undefined) return conflict(detail, code);
  return invalidAt(['body', field], detail, code);
}
