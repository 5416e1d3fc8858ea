import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../http/router.ts';
import { decodeCursor, toListBody } from '../http/pagination.ts';
import { createLoadTest, stopLoadTest } from './load-tests/lifecycle.ts';
import { createSession, startSession, stopSession } from './sessions/lifecycle.ts';
import { loadTestRecord } from './load-tests/records.ts';
import { listLoadTests } from './load-tests/store.ts';
import { readLoadTest } from './load-tests/read.ts';
import { readConversation, readSession } from './sessions/read.ts';
import { sessionRecord } from './sessions/records.ts';
import * as schemas from './schemas.ts';
import { listSessions, listRunningSessions } from './sessions/store.ts';

const params = z.object({ test_session_id: pathId });
const loadTestParams = z.object({ load_test_group_id: pathId });
const maxActiveShown = 500;

const createSessionRoute = createRoute({
  method: 'post',
  path: '/simtest/test-sessions',
  operationId: 'testSessions.create',
  summary: 'Create a test session, in which one voice agent talks to another',
  request: { body: jsonBody(schemas.NewSessionBody) },
  responses: { 200: jsonResponse(schemas.TestSessionRecord), ...errorResponses(400, 404) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/simtest/test-sessions',
  operationId: 'testSessions.list',
  summary: 'List test sessions, newest first',
  request: { query: schemas.SessionQuery },
  responses: { 200: jsonResponse(schemas.SessionList), ...errorResponses(400) },
});
const getRoute = createRoute({
  method: 'get',
  path: '/simtest/test-sessions/{test_session_id}',
  operationId: 'testSessions.get',
  summary: 'Get a test session as it is now',
  request: { params },
  responses: { 200: jsonResponse(schemas.TestSessionRecord), ...errorResponses(400, 404) },
});
const startRoute = createRoute({
  method: 'post',
  path: '/simtest/test-sessions/{test_session_id}/start',
  operationId: 'testSessions.start',
  summary: 'Have the two agents of a pending session begin to talk',
  request: { params },
  responses: { 200: jsonResponse(schemas.StartedSession), ...errorResponses(400, 404, 409) },
});
const stopRoute = createRoute({
  method: 'post',
  path: '/simtest/test-sessions/{test_session_id}/stop',
  operationId: 'testSessions.stop',
  summary: 'Stop a running session; what was said is judged as far as that needs no language model',
  request: { params },
  responses: { 200: jsonResponse(schemas.TestSessionRecord), ...errorResponses(400, 404, 409) },
});
const conversationRoute = createRoute({
  method: 'get',
  path: '/simtest/test-sessions/{test_session_id}/conversation',
  operationId: 'testSessions.getConversation',
  summary: 'Get what was said so far, and the recordings',
  request: { params },
  responses: { 200: jsonResponse(schemas.ConversationAnswer), ...errorResponses(400, 404) },
});
const createLoadTestRoute = createRoute({
  method: 'post',
  path: '/simtest/load-tests',
  operationId: 'loadTests.create',
  summary: 'Create and start a load test: many sessions of the same two agents',
  request: { body: jsonBody(schemas.NewLoadTestBody) },
  responses: { 200: jsonResponse(schemas.StartedLoadTest), ...errorResponses(400, 404, 409) },
});
const listLoadTestsRoute = createRoute({
  method: 'get',
  path: '/simtest/load-tests',
  operationId: 'loadTests.list',
  summary: 'List load tests, newest first',
  request: { query: schemas.LoadTestQuery },
  responses: { 200: jsonResponse(schemas.LoadTestList), ...errorResponses(400) },
});
const statisticsRoute = createRoute({
  method: 'get',
  path: '/simtest/load-tests/{load_test_group_id}/stats',
  operationId: 'loadTests.getStatistics',
  summary: 'Get the statistics of a load test as they are now, with its sessions',
  request: { params: loadTestParams },
  responses: { 200: jsonResponse(schemas.LoadTestStatisticsRecord), ...errorResponses(400, 404) },
});
const stopLoadTestRoute = createRoute({
  method: 'post',
  path: '/simtest/load-tests/{load_test_group_id}/stop',
  operationId: 'loadTests.stop',
  summary: 'Stop a running load test: no session starts any more, and those that run are stopped',
  request: { params: loadTestParams },
  responses: { 200: jsonResponse(schemas.LoadTestStatisticsRecord), ...errorResponses(400, 404, 409) },
});
const activeRoute = createRoute({
  method: 'get',
  path: '/simtest/active-tests',
  operationId: 'testSessions.listActive',
  summary: 'List the sessions that are running, newest first',
  responses: { 200: jsonResponse(schemas.ActiveTests), ...errorResponses(400) },
});

export const simtestRoutes = createRouter()
  .openapi(createSessionRoute, async (c) => c.json(sessionRecord(await createSession(c.var.context, c.req.valid('json'))), 200))
  .openapi(listRoute, async (c) => {
    const { status, load_test_group_id: loadTestId, search, ...page } = c.req.valid('query');
    const { database, organization } = c.var.context;
    const at = { ...page, after: decodeCursor(page.cursor) };
    const found = await listSessions(database, organization.id, { status, loadTestId, search }, at);
    return c.json(
      toListBody('test_sessions', page, found, (row) => sessionRecord(row)),
      200,
    );
  })
  .openapi(getRoute, async (c) => c.json(await readSession(c.var.context, c.req.valid('param').test_session_id), 200))
  .openapi(startRoute, async (c) => {
    const { test_session_id } = c.req.valid('param');
    await startSession(c.var.context, test_session_id);
    return c.json({ message: 'Test session started', test_session_id }, 200);
  })
  .openapi(stopRoute, async (c) => c.json(await stopSession(c.var.context, c.req.valid('param').test_session_id), 200))
  .openapi(conversationRoute, async (c) =>
    c.json({ conversation: await readConversation(c.var.context, c.req.valid('param').test_session_id) }, 200),
  )
  .openapi(createLoadTestRoute, async (c) => c.json(await createLoadTest(c.var.context, c.req.valid('json')), 200))
  .openapi(listLoadTestsRoute, async (c) => {
    const { search, ...page } = c.req.valid('query');
    const { database, organization } = c.var.context;
    const found = await listLoadTests(database, organization.id, search, { ...page, after: decodeCursor(page.cursor) });
    return c.json(toListBody('load_tests', page, found, loadTestRecord), 200);
  })
  .openapi(statisticsRoute, async (c) => c.json(await readLoadTest(c.var.context, c.req.valid('param').load_test_group_id), 200))
  .openapi(stopLoadTestRoute, async (c) => c.json(await stopLoadTest(c.var.context, c.req.valid('param').load_test_group_id), 200))
  .openapi(activeRoute, async (c) => {
    const { database, organization } = c.var.context;
    const { rows, count } = await listRunningSessions(database, organization.id, maxActiveShown);
    return c.json({ count, sessions: rows.map((row) => sessionRecord(row)) }, 200);
  });
