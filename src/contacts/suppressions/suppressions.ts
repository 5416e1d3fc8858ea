import type { Context } from '../../context.ts';
import { cutPage, decodeCursor, type PageResult } from '../../http/pagination.ts';
import { invalidAt, notFound } from '../../library/errors.ts';
import { cleanLine } from '../../library/clean-line.ts';
import { normalizePhone } from '../../library/phone/phone-numbers.ts';
import type { SuppressionBody, SuppressionQuery } from './schemas.ts';
import * as store from './store.ts';
import { suppress } from './suppress.ts';

/** Throws 422 for a phone that is none, and for an end that has passed. */
export function addSuppression(context: Context, { phone, reason, until }: SuppressionBody): Promise<store.SuppressionRow> {
  const number = parsePhone(context, phone, 'body');
  if (until != null && until <= context.clock())
    throw invalidAt(['body', 'until'], 'Is in the past; give a later moment, or none to suppress the number for good');
  return suppress(context, { phone: number, reason, until });
}

/** Those in force, unless told to show also those that have ended; newest first. */
export async function listSuppressions(context: Context, query: SuppressionQuery): Promise<PageResult<store.SuppressionRow>> {
  const { rows, total, isCapped } = await store.listSuppressions(context.database, context.organization.id, {
    phone: query.phone === undefined ? undefined : parsePhone(context, query.phone, 'query'),
    search: cleanLine(query.search ?? '') || undefined,
    activeAt: query.include_expired ? undefined : context.clock(),
    before: decodeCursor(query.cursor)?.id,
    limit: query.limit,
    offset: query.offset,
  });
  return { ...cutPage(rows, query.limit, ({ id }) => ({ value: null, id })), total, totalCapped: isCapped };
}

/** Throws 404. */
export async function deleteSuppression({ database, organization }: Context, id: number): Promise<void> {
  if (!(await store.deleteSuppression(database, organization.id, id))) throw notFound('Suppression');
}

/** Throws 404 when the number has none. */
export async function deleteSuppressionByPhone(context: Context, phone: string): Promise<void> {
  const number = parsePhone(context, phone, 'query');
  if (!(await store.deleteSuppressionByPhone(context.database, context.organization.id, number))) throw notFound('Suppression');
}

function parsePhone({ organization }: Context, text: string, place: 'body' | 'query'): string {
  // An unescaped plus in a query arrives as a space.
  const reading = normalizePhone(place === 'query' ? text.replace(/^ (?=\d)/, '+') : text, organization.defaultCountry);
  if ('phone' in reading) return reading.phone;
  throw invalidAt([place, 'phone'], reading.detail, 'invalid_phone');
}
