import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonResponse, pathId } from '../../http/router.ts';
import * as schemas from './schemas.ts';
import { verifyAgent } from './verify-agent.ts';

const verifyRoute = createRoute({
  method: 'post',
  path: '/workflow/{workflow_id}/verify',
  operationId: 'agents.verify',
  summary: 'Run the required tests of a voice agent',
  description:
    'Runs `workflow_configurations.required_tests`, all at once, each as a test session, and answers when they have ended. What has not ended after VERIFY_WAIT_SECONDS goes on; then `passed` is null unless another test has failed.',
  request: { params: z.object({ workflow_id: pathId }) },
  responses: { 200: jsonResponse(schemas.AgentVerification), ...errorResponses(400, 404, 409) },
});

export const verificationRoutes = createRouter().openapi(verifyRoute, async (c) =>
  c.json(await verifyAgent(c.var.context, c.req.valid('param').workflow_id), 200),
);
