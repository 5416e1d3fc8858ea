import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses } from '../../http/router.ts';
import { basePath } from '../../http/public-url.ts';
import { systemClock } from '../../library/time/clock.ts';
import { forbidden, notFound } from '../../library/errors.ts';
import { isSignedPath } from '../../library/security/signed-paths.ts';
import { isArtifact, sendArtifact } from './send-artifact.ts';
import { SignedArtifactParams } from './schemas.ts';

const signedRoute = createRoute({
  method: 'get',
  path: '/artifacts/{organization_id}/{run_id}/{artifact}',
  operationId: 'agentRuns.downloadArtifact',
  summary: 'A transcript or recording by the link that /download gave, until it expires',
  security: [],
  request: { params: SignedArtifactParams, query: z.object({ expires: z.string().optional(), signature: z.string().optional() }) },
  responses: {
    200: {
      description: 'The recording, or the transcript as text; one range of its bytes where a Range header asks for it (206)',
      content: { 'application/octet-stream': { schema: z.string() } },
    },
    ...errorResponses(403, 404),
  },
});

/** Signed links to artifacts. Mounted before authentication, since the signature of the link replaces credentials. */
export const artifactRoutes = createRouter().openapi(signedRoute, async (c) => {
  const { pathname, search } = new URL(c.req.url);
  const path = pathname.slice(basePath.length) + search;
  if (!(await isSignedPath(c.var.settings.SIGNING_KEY, 'GET', path, systemClock())))
    throw forbidden('This link has been changed or has expired; get a new one from /workflow/{workflow_id}/runs/{run_id}/download');
  const { organization_id: organizationId, run_id: runId, artifact } = c.req.valid('param');
  if (!isArtifact(artifact)) throw notFound('Artifact');
  return sendArtifact(c.env, { organizationId: Number(organizationId), runId: Number(runId), artifact }, c.req.raw);
});
