import type { Context } from '../../context.ts';
import { upsertSuppression, selectSuppressed, type SuppressionRow } from './store.ts';

export interface NewSuppression {
  /** E.164. */
  phone: string;
  reason: string;
  /** Epoch ms; null or left out: for good. */
  until?: number | null | undefined;
}

/** Which of `phones` (E.164) must not be called now, each with the reason. One statement, whatever their number. */
export async function findSuppressedPhones({ database, organization, clock }: Context, phones: string[]): Promise<Map<string, string>> {
  const rows = await database.all<{ phone: string; reason: string }>(selectSuppressed(database, organization.id, phones, clock()));
  return new Map(rows.map(({ phone, reason }) => [phone, reason]));
}

/** Sees to it that a number is not called, at least until then. What holds longer already is left as it is. Repeatable. */
export const suppress = (
  { database, organization, clock }: Context,
  { phone, reason, until = null }: NewSuppression,
): Promise<SuppressionRow> => upsertSuppression(database, organization.id, { phone, reason, until }, clock());
