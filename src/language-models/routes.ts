import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse, pathId } from '../http/router.ts';
import { toListBody } from '../http/pagination.ts';
import { createModel, deleteModel, existingModel, listModels, replaceModel, testStoredModel } from './change-model.ts';
import { toLanguageModelRecord } from './model-record.ts';
import * as schemas from './schemas.ts';

const modelParams = z.object({ language_model_id: pathId });

const listRoute = createRoute({
  method: 'get',
  path: '/language-models',
  operationId: 'languageModels.list',
  summary: 'List the language models of the organization, newest first, their keys masked',
  request: { query: schemas.LanguageModelQuery },
  responses: { 200: jsonResponse(schemas.LanguageModelList), ...errorResponses(400) },
});
const createModelRoute = createRoute({
  method: 'post',
  path: '/language-models',
  operationId: 'languageModels.create',
  summary: 'Add a language model under a key of your own; it is asked real questions first, and saved when it answers them',
  request: { body: jsonBody(schemas.NewLanguageModelBody) },
  responses: { 200: jsonResponse(schemas.LanguageModelRecord), ...errorResponses(400, 409, 413, 415) },
});
const readRoute = createRoute({
  method: 'get',
  path: '/language-models/{language_model_id}',
  operationId: 'languageModels.get',
  summary: 'Get a language model, its key masked',
  request: { params: modelParams },
  responses: { 200: jsonResponse(schemas.LanguageModelRecord), ...errorResponses(400, 404) },
});
const replaceRoute = createRoute({
  method: 'put',
  path: '/language-models/{language_model_id}',
  operationId: 'languageModels.update',
  summary: 'Replace a language model; it is tested unless only its name, order or prices change',
  request: { params: modelParams, body: jsonBody(schemas.LanguageModelBody) },
  responses: { 200: jsonResponse(schemas.LanguageModelRecord), ...errorResponses(400, 404, 409, 413, 415) },
});
const deleteRoute = createRoute({
  method: 'delete',
  path: '/language-models/{language_model_id}',
  operationId: 'languageModels.delete',
  summary: 'Delete a language model; conversations that have begun with it keep it',
  request: { params: modelParams },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 404) },
});
const testRoute = createRoute({
  method: 'post',
  path: '/language-models/{language_model_id}/test',
  operationId: 'languageModels.test',
  summary: 'Ask a language model a small question for each ability that its purposes need',
  request: { params: modelParams },
  responses: { 200: jsonResponse(schemas.ModelTestResult), ...errorResponses(400, 404) },
});

const identity = <T>(record: T) => record;

export const languageModelRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const found = await listModels(c.var.context, query);
    const records = await Promise.all(found.rows.map((row) => toLanguageModelRecord(c.var.context, row)));
    return c.json(toListBody('language_models', query, { ...found, rows: records }, identity), 200);
  })
  .openapi(createModelRoute, async (c) => {
    const row = await createModel(c.var.context, c.req.valid('json'));
    return c.json(await toLanguageModelRecord(c.var.context, row), 200);
  })
  .openapi(readRoute, async (c) => {
    const row = await existingModel(c.var.context, c.req.valid('param').language_model_id);
    return c.json(await toLanguageModelRecord(c.var.context, row), 200);
  })
  .openapi(replaceRoute, async (c) => {
    const row = await replaceModel(c.var.context, c.req.valid('param').language_model_id, c.req.valid('json'));
    return c.json(await toLanguageModelRecord(c.var.context, row), 200);
  })
  .openapi(deleteRoute, async (c) => {
    await deleteModel(c.var.context, c.req.valid('param').language_model_id);
    return c.json({ status: 'deleted' as const }, 200);
  })
  .openapi(testRoute, async (c) => c.json(await testStoredModel(c.var.context, c.req.valid('param').language_model_id), 200));
