import type { Context } from '../../context.ts';
import { cutPage, decodeCursor, type PageResult } from '../../http/pagination.ts';
import { readQueryPhone } from '../../http/query-phone.ts';
import { invalidAt, notFound } from '../../library/errors.ts';
import { publish } from '../../outbox/published-events.ts';
import { cleanLine } from '../../library/text/clean-text.ts';
import { normalizePhone } from '../../library/phone/phone-numbers.ts';
import type { RestoreBody, SuppressionBody, SuppressionQuery } from './schemas.ts';
import * as store from './store.ts';
import { upsertSuppression, selectSuppressed, type SuppressionRow, type SuppressionToWrite } from './store.ts';

/** Suppresses a phone number for the user `by`. Throws 422 for an unusable phone and for `until` in the past. */
export function addSuppression(context: Context, { phone, reason, until }: SuppressionBody, by: number): Promise<store.SuppressionRow> {
  const number = parsePhone(context, phone);
  if (until != null && until <= context.clock())
    throw invalidAt(['body', 'until'], 'Is in the past; give a later moment, or none to suppress the number for good');
  return suppress(context, { phone: number, reason, until, source: 'manual', createdBy: by });
}

/** Allows calls to a number again and keeps the record of it, with the user and the reason. Throws 404. */
export async function restoreSuppression(
  { database, organization, clock }: Context,
  id: number,
  { reason }: RestoreBody,
  by: number,
): Promise<SuppressionRow> {
  const row = await store.restoreSuppression(database, organization.id, { id, by, reason }, clock());
  if (!row) throw notFound('Suppression');
  return row;
}

/** One page of suppressions, newest first: those in force, or also the expired ones with `include_expired`. */
export async function listSuppressions(context: Context, query: SuppressionQuery): Promise<PageResult<store.SuppressionRow>> {
  const { rows, total, isCapped } = await store.listSuppressions(context.database, context.organization.id, {
    phone: query.phone === undefined ? undefined : readQueryPhone(query.phone, context.organization.defaultCountry),
    search: cleanLine(query.search ?? '') || undefined,
    activeAt: query.include_expired ? undefined : context.clock(),
    before: decodeCursor(query.cursor)?.id,
    limit: query.limit,
    offset: query.offset,
  });
  return { ...cutPage(rows, query.limit, ({ id }) => ({ value: null, id })), total, totalCapped: isCapped };
}

/** Deletes a suppression by its id. Throws 404. */
export async function deleteSuppression({ database, organization }: Context, id: number): Promise<void> {
  if (!(await store.deleteSuppression(database, organization.id, id))) throw notFound('Suppression');
}

/** Deletes the suppression of a phone number. Throws 404 when the number has none, 422 for an unusable phone. */
export async function deleteSuppressionByPhone(context: Context, phone: string): Promise<void> {
  const number = readQueryPhone(phone, context.organization.defaultCountry);
  if (!(await store.deleteSuppressionByPhone(context.database, context.organization.id, number))) throw notFound('Suppression');
}

function parsePhone({ organization }: Context, text: string): string {
  const reading = normalizePhone(text, organization.defaultCountry);
  if ('phone' in reading) return reading.phone;
  throw invalidAt(['body', 'phone'], reading.detail, 'invalid_phone');
}

export interface NewSuppression {
  /** E.164. */
  phone: string;
  reason: string;
  source: SuppressionRow['source'];
  /** What the person said. */
  evidence?: string;
  callRunId?: number;
  /** The id of a user. */
  createdBy?: number;
  /** Epoch ms; null or absent: forever. */
  until?: number | null | undefined;
}

/** The phones among `phones` (E.164) that must not be called now, each with its reason. One statement for any number of phones. */
export async function findSuppressedPhones({ database, organization, clock }: Context, phones: string[]): Promise<Map<string, string>> {
  const rows = await database.all(selectSuppressed(database, organization.id, phones, clock()));
  return new Map(rows.map(({ phone, reason }) => [phone, reason]));
}

/** Suppresses a number until `until`. A suppression that already lasts longer stays as it is. Repeatable. */
export async function suppress(context: Context, wanted: NewSuppression): Promise<SuppressionRow> {
  const { database, organization, clock } = context;
  const row = await upsertSuppression(database, organization.id, toSuppressionToWrite(wanted), clock());
  await publish(context, 'webhook_event.recorded', { type: 'suppression.added' });
  return row;
}

/** The suppression with null for what is not known of it. */
export const toSuppressionToWrite = ({
  evidence = undefined,
  callRunId = undefined,
  createdBy = undefined,
  until = undefined,
  ...wanted
}: NewSuppression): SuppressionToWrite => ({
  ...wanted,
  evidence: evidence ?? null,
  callRunId: callRunId ?? null,
  createdBy: createdBy ?? null,
  until: until ?? null,
});
