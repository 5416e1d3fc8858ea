import { createRoute } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonBody, jsonResponse } from '../../http/router.ts';
import { decodeCursor, toListBody } from '../../http/pagination.ts';
import { apiUrl } from '../../http/public-url.ts';
import { listChunks } from '../chunks/list-chunks.ts';
import { deleteDocument, existingDocument, reprocessDocument } from './change-document.ts';
import { processDocument } from './process-document.ts';
import { toChunkRecord, toDocumentRecord, toSearchResult } from './records.ts';
import * as schemas from './schemas.ts';
import { searchChunks } from '../search/search-chunks.ts';
import { listDocuments } from './store.ts';
import { createUpload } from '../upload/create-upload.ts';

const params = schemas.DocumentParams;

const uploadUrlRoute = createRoute({
  method: 'post',
  path: '/knowledge-base/upload-url',
  operationId: 'knowledgeBase.createUploadUrl',
  summary: 'Get a signed URL to PUT a document to, and what process-document is called with',
  request: { body: jsonBody(schemas.NewUploadBody) },
  responses: { 200: jsonResponse(schemas.UploadTicket), ...errorResponses(400, 415) },
});
const processRoute = createRoute({
  method: 'post',
  path: '/knowledge-base/process-document',
  operationId: 'knowledgeBase.processDocument',
  summary: 'Make an uploaded file a document: read, cut into chunks, embedded; repeatable',
  request: { body: jsonBody(schemas.ProcessDocumentBody) },
  responses: { 200: jsonResponse(schemas.DocumentRecord), ...errorResponses(400, 404, 409) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/knowledge-base/documents',
  operationId: 'knowledgeBase.listDocuments',
  summary: 'List documents, newest first',
  request: { query: schemas.DocumentQuery },
  responses: { 200: jsonResponse(schemas.DocumentList), ...errorResponses(400) },
});
const getRoute = createRoute({
  method: 'get',
  path: '/knowledge-base/documents/{document_uuid}',
  operationId: 'knowledgeBase.getDocument',
  summary: 'Get a document',
  request: { params },
  responses: { 200: jsonResponse(schemas.DocumentRecord), ...errorResponses(400, 404) },
});
const deleteRoute = createRoute({
  method: 'delete',
  path: '/knowledge-base/documents/{document_uuid}',
  operationId: 'knowledgeBase.deleteDocument',
  summary: 'Delete a document and its chunks; search finds them no longer',
  request: { params },
  responses: { 200: jsonResponse(schemas.DocumentRecord), ...errorResponses(400, 404) },
});
const reprocessRoute = createRoute({
  method: 'post',
  path: '/knowledge-base/documents/{document_uuid}/reprocess',
  operationId: 'knowledgeBase.reprocessDocument',
  summary: 'Process a completed or failed document again; until it is done, search finds what it found before',
  request: { params, body: { ...jsonBody(schemas.ReprocessBody), required: false } },
  responses: { 200: jsonResponse(schemas.DocumentRecord), ...errorResponses(400, 404, 409) },
});
const chunksRoute = createRoute({
  method: 'get',
  path: '/knowledge-base/documents/{document_uuid}/chunks',
  operationId: 'knowledgeBase.listChunks',
  summary: 'List the chunks of a document in its order',
  request: { params, query: schemas.ChunkQuery },
  responses: { 200: jsonResponse(schemas.ChunkList), ...errorResponses(400, 404) },
});
const searchRoute = createRoute({
  method: 'post',
  path: '/knowledge-base/search',
  operationId: 'knowledgeBase.search',
  summary: 'Find the chunks that answer a query best',
  request: { body: jsonBody(schemas.SearchBody) },
  responses: { 200: jsonResponse(schemas.SearchResult), ...errorResponses(400, 502) },
});

export const knowledgeBaseRoutes = createRouter()
  .openapi(uploadUrlRoute, async (c) => c.json(await createUpload(c.var.context, c.req.valid('json'), apiUrl(c)), 200))
  .openapi(processRoute, async (c) =>
    c.json(toDocumentRecord(await processDocument(c.var.context, c.req.valid('json'), c.var.caller.userId)), 200),
  )
  .openapi(listRoute, async (c) => {
    const { status, search, ...page } = c.req.valid('query');
    const { database, organization } = c.var.context;
    const found = await listDocuments(database, organization.id, { status, search }, { ...page, after: decodeCursor(page.cursor) });
    return c.json(toListBody('documents', page, found, toDocumentRecord), 200);
  })
  .openapi(getRoute, async (c) => c.json(toDocumentRecord(await existingDocument(c.var.context, c.req.valid('param').document_uuid)), 200))
  .openapi(deleteRoute, async (c) => c.json(toDocumentRecord(await deleteDocument(c.var.context, c.req.valid('param').document_uuid)), 200))
  .openapi(reprocessRoute, async (c) =>
    c.json(toDocumentRecord(await reprocessDocument(c.var.context, c.req.valid('param').document_uuid, c.req.valid('json'))), 200),
  )
  .openapi(chunksRoute, async (c) => {
    const query = c.req.valid('query');
    const found = await listChunks(c.var.context, c.req.valid('param').document_uuid, query);
    return c.json(
      toListBody('chunks', query, found, (row) => toChunkRecord(row, found.document)),
      200,
    );
  })
  .openapi(searchRoute, async (c) => {
    const { query, limit, document_uuids, min_similarity, mode } = c.req.valid('json');
    const chunks = await searchChunks(c.var.context, {
      query,
      limit,
      documentUuids: document_uuids ?? undefined,
      minSimilarity: min_similarity ?? undefined,
      mode: mode ?? undefined,
    });
    return c.json(toSearchResult(query, chunks), 200);
  });
