import { and, desc, eq, lt, sql } from 'drizzle-orm';
import type { Database, Statement } from '../database/client.ts';
import { languageModel } from '../database/schema/language-models.ts';

export type LanguageModelRow = typeof languageModel.$inferSelect;
export type LanguageModelValues = Omit<LanguageModelRow, 'id' | 'organizationId' | 'createdAt'>;

export async function findModel(database: Database, organizationId: number, id: number): Promise<LanguageModelRow | null> {
  const query = database.orm
    .select()
    .from(languageModel)
    .where(and(eq(languageModel.id, id), eq(languageModel.organizationId, organizationId)));
  return (await database.run(() => query))[0] ?? null;
}

/** A page of models, newest first. `limit` includes the extra row that shows whether more follow. */
export async function listModels(
  database: Database,
  organizationId: number,
  { before, limit, offset }: { before: number | undefined; limit: number; offset: number },
) {
  const where = eq(languageModel.organizationId, organizationId);
  const page = and(where, before === undefined ? undefined : lt(languageModel.id, before));
  const { orm } = database;
  const [rows, counted] = await database.run(() =>
    orm.batch([
      orm.select().from(languageModel).where(page).orderBy(desc(languageModel.id)).limit(limit).offset(offset),
      orm
        .select({ total: sql<number>`count(*)` })
        .from(languageModel)
        .where(where),
    ]),
  );
  return { rows, total: counted[0]!.total };
}

export const insertModel = (database: Database, organizationId: number, values: LanguageModelValues): Statement =>
  database.prepare(
    `INSERT INTO language_model (organization_id, name, provider, base_url, model, api_key, purposes, first_token_seconds,
       prompt_usd_per_million, completion_usd_per_million, created_at, updated_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11) RETURNING id`,
    organizationId,
    ...toColumns(values),
    values.updatedAt,
  );

/** Replaces a model, unless the row was changed after `readAt`. */
export const updateModel = (
  database: Database,
  organizationId: number,
  id: number,
  values: LanguageModelValues,
  readAt: number,
): Statement =>
  database.prepare(
    `UPDATE language_model SET name = ?2, provider = ?3, base_url = ?4, model = ?5, api_key = ?6, purposes = ?7, first_token_seconds = ?8,
       prompt_usd_per_million = ?9, completion_usd_per_million = ?10, updated_at = ?11
     WHERE id = ?12 AND organization_id = ?1 AND updated_at = ?13 RETURNING id`,
    organizationId,
    ...toColumns(values),
    values.updatedAt,
    id,
    readAt,
  );

const toColumns = (values: LanguageModelValues) =>
  [
    values.name,
    values.provider,
    values.baseUrl,
    values.model,
    values.apiKey,
    JSON.stringify(values.purposes),
    values.firstTokenSeconds,
    values.promptUsdPerMillion,
    values.completionUsdPerMillion,
  ] as const;

/** The id of a model, as `insertModel` and `updateModel` return it. */
export const selectModelId = (database: Database, organizationId: number, id: number): Statement =>
  database.prepare('SELECT id FROM language_model WHERE id = ? AND organization_id = ?', id, organizationId);

/** Deletes a model, and answers whether it existed. */
export async function deleteModel(database: Database, organizationId: number, id: number): Promise<boolean> {
  const statement = database.prepare('DELETE FROM language_model WHERE id = ? AND organization_id = ? RETURNING id', id, organizationId);
  const [deleted] = await database.batchOnce([statement], async ({ changes }) => [changes ? [{ id }] : []]);
  return deleted.length > 0;
}
