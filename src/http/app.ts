import { OpenAPIHono } from '@hono/zod-openapi';
import { accountRoutes } from '../accounts/routes.ts';
import { signInRoutes } from '../accounts/sign-in-routes.ts';
import { runRoutes } from '../automation-workflows/runs/routes.ts';
import { triggerRoutes } from '../automation-workflows/triggers/routes.ts';
import { webhookRoutes } from '../automation-workflows/triggers/webhook-routes.ts';
import { workflowRoutes } from '../automation-workflows/workflows/routes.ts';
import { eventRoutes } from '../events/routes.ts';
import { integrationRoutes } from '../integrations/routes.ts';
import { contactRoutes } from '../contacts/routes.ts';
import { campaignRoutes } from '../campaigns/routes.ts';
import { campaignUploadRoutes } from '../campaigns/upload-routes.ts';
import { mcpRoutes } from '../mcp/routes.ts';
import { messagingCallbackRoutes } from '../messaging/callback-routes.ts';
import { messagingRoutes } from '../messaging/routes.ts';
import { knowledgeBaseRoutes } from '../knowledge-base/routes.ts';
import { documentUploadRoutes } from '../knowledge-base/upload/routes.ts';
import { simtestRoutes } from '../simtest/routes.ts';
import { artifactRoutes } from '../voice-agents/artifact-routes.ts';
import { voiceAgentRoutes } from '../voice-agents/routes.ts';
import { telephonyConfigRoutes } from '../voice-agents/telephony-configs/routes.ts';
import { carrierRoutes } from '../voice-agents/dialing/carrier-routes.ts';
import { authenticate } from './credentials.ts';
import type { HttpEnvironment } from './environment.ts';
import { answerError, answerInvalid } from './errors.ts';
import { answerMisconfigured, healthRoutes, isHealthRequest } from './health.ts';
import { replayRepeats } from './idempotency.ts';
import { basePath } from './public-url.ts';
import { openApiDocument } from './openapi/document.ts';
import { serveDocument } from './openapi/serve-document.ts';
import { BadSettingsError } from '../settings.ts';
import { readJsonBody } from './read-body.ts';
import { logRequest } from './request-log.ts';
import { warnOfUnknownParameters } from './unknown-parameters.ts';

export function createApp() {
  const app = new OpenAPIHono<HttpEnvironment>({ strict: false, defaultHook: answerInvalid });
  app.use('*', logRequest);
  app.onError((error, c) => {
    const answer = answerError(error, c);
    return error instanceof BadSettingsError && isHealthRequest(c) ? answerMisconfigured(c) : answer;
  });
  app.use(`${basePath}/*`, warnOfUnknownParameters(app));
  app.notFound((c) => c.json({ detail: `No such path: ${c.req.method} ${c.req.path}` }, 404));

  let kept: ReturnType<typeof openApiDocument> | undefined;
  const document = () => (kept ??= openApiDocument(app));
  app.get(`${basePath}/openapi.json`, serveDocument());
  app.route('/', mcpRoutes({ document, dispatch: async (request, c) => app.fetch(request, c.env, c.executionCtx) }));
  app.get('/docs/*', (c) => c.env.ASSETS.fetch(c.req.raw));

  // Open without credentials; what needs them is verified by its own means. All that is mounted below asks for credentials.
  app.route(basePath, healthRoutes);
  app.route(basePath, signInRoutes);
  app.route(basePath, webhookRoutes);
  app.route(basePath, carrierRoutes);
  app.route(basePath, messagingCallbackRoutes);
  app.route(basePath, campaignUploadRoutes);
  app.route(basePath, documentUploadRoutes);
  app.route(basePath, artifactRoutes);
  app.use(`${basePath}/*`, authenticate);
  app.use(`${basePath}/*`, readJsonBody);
  app.use(`${basePath}/*`, replayRepeats);
  app.route(basePath, accountRoutes);
  app.route(basePath, contactRoutes);
  app.route(basePath, campaignRoutes);
  app.route(basePath, knowledgeBaseRoutes);
  app.route(basePath, simtestRoutes);
  app.route(basePath, eventRoutes);
  app.route(basePath, integrationRoutes);
  app.route(basePath, runRoutes);
  app.route(basePath, triggerRoutes);
  app.route(basePath, workflowRoutes);
  app.route(basePath, telephonyConfigRoutes);
  app.route(basePath, voiceAgentRoutes);
  app.route(basePath, messagingRoutes);
  return app;
}
