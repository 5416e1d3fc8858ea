import { createRoute, z } from '@hono/zod-openapi';
import { maskSecrets } from '../../expressions/secrets/secrets.ts';
import { pageQuery, toListBody } from '../../http/pagination.ts';
import { createRouter, errorResponses, jsonResponse, pathId } from '../../http/router.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import { toAgentRecord } from '../agents/records.ts';
import { AgentRecord } from '../agents/schemas.ts';
import { parseVersion } from './parse-version.ts';
import * as schemas from './schemas.ts';
import { diffVersions, listVersions, readVersion, restoreVersion, type ListedVersion } from './versions.ts';

const agentParams = z.object({ workflow_id: pathId });
const versionParams = z.object({ workflow_id: pathId, version_id: pathId });

const listRoute = createRoute({
  method: 'get',
  path: '/workflow/{workflow_id}/versions',
  operationId: 'agents.listVersions',
  summary: 'List the versions of a voice agent, newest first',
  description:
    'A version is all that a call uses of the agent: the graph of the talk, variables, disposition codes and configurations. Name, status and `required_tests` are those of the agent, in all versions.',
  request: { params: agentParams, query: z.object(pageQuery) },
  responses: { 200: jsonResponse(schemas.VersionList), ...errorResponses(400, 404) },
});
const getRoute = createRoute({
  method: 'get',
  path: '/workflow/{workflow_id}/versions/{version_id}',
  operationId: 'agents.getVersion',
  summary: 'Get a version of a voice agent with its graph and settings',
  request: { params: versionParams },
  responses: { 200: jsonResponse(schemas.VersionRecord), ...errorResponses(400, 404) },
});
const diffRoute = createRoute({
  method: 'get',
  path: '/workflow/{workflow_id}/versions/{version_id}/diff',
  operationId: 'agents.diffVersions',
  summary: 'What has changed from a version of a voice agent to another, path by path',
  request: { params: versionParams, query: schemas.DiffQuery },
  responses: { 200: jsonResponse(schemas.VersionDiff), ...errorResponses(400, 404) },
});
const restoreRoute = createRoute({
  method: 'post',
  path: '/workflow/{workflow_id}/versions/{version_id}/restore',
  operationId: 'agents.restoreVersion',
  summary: 'Make an earlier version of a voice agent the current one, as a new version',
  description:
    'Graph, variables, disposition codes and configurations become those of the version; name, status and `required_tests` stay. Calls that have begun keep their version, and campaigns that pin one keep it. A version that equals the current one changes nothing.',
  request: { params: versionParams },
  responses: { 200: jsonResponse(AgentRecord), ...errorResponses(400, 404, 409) },
});

export const agentVersionRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const page = c.req.valid('query');
    const found = await listVersions(c.var.context, c.req.valid('param').workflow_id, page);
    return c.json(toListBody('versions', page, found, listedVersion), 200);
  })
  .openapi(getRoute, async (c) => {
    const { workflow_id, version_id } = c.req.valid('param');
    const version = await readVersion(c.var.context, workflow_id, version_id);
    const { workflow_definition, ...settings } = parseVersion(version);
    return c.json({ ...listedVersion(version), workflow_definition: maskSecrets(workflow_definition), ...settings }, 200);
  })
  .openapi(diffRoute, async (c) => {
    const { workflow_id, version_id } = c.req.valid('param');
    return c.json(await diffVersions(c.var.context, workflow_id, version_id, c.req.valid('query').to), 200);
  })
  .openapi(restoreRoute, async (c) => {
    const { workflow_id, version_id } = c.req.valid('param');
    const { context } = c.var;
    return c.json(await toAgentRecord(context, await restoreVersion(context, workflow_id, version_id)), 200);
  });

const countOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

function listedVersion({ id, definition, restored_from, created_at, isCurrent }: ListedVersion) {
  const { nodes, edges } = JSON.parse(definition) as Record<string, unknown>;
  return {
    id,
    is_current: isCurrent,
    restored_from,
    node_count: countOf(nodes),
    edge_count: countOf(edges),
    created_at: toTimestamp(created_at),
  };
}
