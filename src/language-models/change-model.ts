import { enforcePlanLimit, requireWithinLimit } from '../accounts/organizations/plan-limits.ts';
import type { Context } from '../context.ts';
import { compareAndSet, nextTimestamp } from '../database/compare-and-set.ts';
import { cutPage, decodeCursor, type Page, type PageResult } from '../http/pagination.ts';
import { conflict, invalid, notFound } from '../library/errors.ts';
import { open } from '../library/security/encryption.ts';
import { toEndpoint } from './endpoint.ts';
import { prepareModel, type PreparedModel } from './prepare-model.ts';
import { purposeNames } from './purposes.ts';
import type { LanguageModelInput } from './schemas.ts';
import * as store from './store.ts';
import { fieldNames, toTestIssues } from './test-issues.ts';
import { testModel, type ModelTest } from './test-model.ts';

/** Finds a language model. Throws 404. */
export async function existingModel({ database, organization }: Context, id: number): Promise<store.LanguageModelRow> {
  const row = await store.findModel(database, organization.id, id);
  if (!row) throw notFound('Language model');
  return row;
}

export async function listModels(
  { database, organization }: Context,
  { cursor, limit, offset }: Page,
): Promise<PageResult<store.LanguageModelRow>> {
  const before = decodeCursor(cursor)?.id;
  const { rows, total } = await store.listModels(database, organization.id, { before, limit: limit + 1, offset });
  return { ...cutPage(rows, limit, ({ id }) => ({ value: null, id })), total };
}

/** Creates a language model that has passed its test. Throws 422 with what is wrong, and 409 beyond the plan. */
export async function createModel(context: Context, input: LanguageModelInput): Promise<store.LanguageModelRow> {
  const { database, organization, clock } = context;
  const prepared = await prepareModel(context, input, null, clock());
  await requirePassedTest(prepared);
  const insert = store.insertModel(database, organization.id, prepared.values);
  const room = requireWithinLimit(database, organization, 'max_language_models');
  const rows = await enforcePlanLimit(organization, () =>
    compareAndSet(database, insert, [room], ({ rowId }) => store.selectModelId(database, organization.id, rowId)),
  );
  return existingModel(context, rows![0]!['id'] as number);
}

/**
 * Replaces a language model. It is tested when it is asked elsewhere, otherwise or for more than before: a change of the order must be possible
 * while a model fails. Throws 404, 422 with what is wrong, and 409 when another request was faster.
 */
export async function replaceModel(context: Context, id: number, input: LanguageModelInput): Promise<store.LanguageModelRow> {
  const { database, organization, clock } = context;
  const before = await existingModel(context, id);
  const prepared = await prepareModel(context, input, before, nextTimestamp(before.updatedAt, clock()));
  if (needsTest(before, prepared.values)) await requirePassedTest(prepared);
  const update = store.updateModel(database, organization.id, id, prepared.values, before.updatedAt);
  const rows = await compareAndSet(database, update, [], () => store.selectModelId(database, organization.id, id));
  if (!rows) throw conflict('The language model was changed or deleted by another request meanwhile; read it and try again');
  return existingModel(context, id);
}

/** Deletes a language model. Conversations that have begun with it keep it. Throws 404. */
export async function deleteModel({ database, organization }: Context, id: number): Promise<void> {
  if (!(await store.deleteModel(database, organization.id, id))) throw notFound('Language model');
}

/** Sends a stored model the small requests of its test. Throws 404. */
export async function testStoredModel(context: Context, id: number): Promise<ModelTest> {
  const { settings, organization } = context;
  const row = await existingModel(context, id);
  const key = await open(settings.ENCRYPTION_KEY, organization.id, row.apiKey);
  return testModel(toEndpoint(settings, row, key, fieldNames), row.purposes);
}

async function requirePassedTest({ endpoint, values }: PreparedModel): Promise<void> {
  const test = await testModel(endpoint, values.purposes);
  if (!test.passed) throw invalid(toTestIssues(test, values.purposes));
}

const needsTest = (before: store.LanguageModelRow, after: store.LanguageModelValues): boolean =>
  (['provider', 'baseUrl', 'model', 'apiKey'] as const).some((field) => before[field] !== after[field]) ||
  purposeNames.some((purpose) => before.purposes[purpose] === undefined && after.purposes[purpose] !== undefined);
