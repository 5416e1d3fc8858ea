import { OpenAPIHono } from '@hono/zod-openapi';
import { deletionRoutes } from './accounts/deletion/routes.ts';
import { apiKeyRoutes } from './accounts/api-keys/routes.ts';
import { auditLogRoutes } from './accounts/audit-log/routes.ts';
import { invitationRoutes } from './accounts/invitations/routes.ts';
import { memberRoutes } from './accounts/members/routes.ts';
import { organizationRoutes } from './accounts/organizations/routes.ts';
import { passkeyRoutes } from './accounts/passkeys/routes.ts';
import { sessionRoutes } from './accounts/sign-in/session-routes.ts';
import { signInRoutes } from './accounts/sign-in/routes.ts';
import { runMoveRoutes } from './automation-workflows/runs/moves/routes.ts';
import { runRoutes } from './automation-workflows/runs/routes.ts';
import { eventOutcomeRoutes } from './automation-workflows/triggers/events/routes.ts';
import { triggerRoutes } from './automation-workflows/triggers/routes.ts';
import { webhookRoutes } from './automation-workflows/triggers/webhooks/routes.ts';
import { workflowRoutes } from './automation-workflows/workflows/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { integrationRoutes } from './integrations/routes.ts';
import { contactRoutes } from './contacts/routes.ts';
import { contactPolicyRoutes } from './contact-policy/routes.ts';
import { operationsRoutes } from './operations/routes.ts';
import { timelineRoutes } from './timeline/routes.ts';
import { campaignRoutes } from './campaigns/routes.ts';
import { campaignUploadRoutes } from './campaigns/source/upload/routes.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { messagingCallbackRoutes } from './messaging/callbacks/routes.ts';
import { messagingRoutes } from './messaging/routes.ts';
import { knowledgeBaseRoutes } from './knowledge-base/documents/routes.ts';
import { documentUploadRoutes } from './knowledge-base/upload/routes.ts';
import { simtestRoutes } from './simtest/routes.ts';
import { contactCallRoutes } from './calls/records/contact-calls-routes.ts';
import { artifactRoutes } from './calls/records/artifact-routes.ts';
import { agentRoutes } from './voice-agents/agents/routes.ts';
import { agentVersionRoutes } from './voice-agents/versions/routes.ts';
import { verificationRoutes } from './simtest/verification/routes.ts';
import { webhookEndpointRoutes } from './webhook-endpoints/routes.ts';
import { agentRunRoutes } from './calls/records/routes.ts';
import { callListRoutes } from './calls/listing/routes.ts';
import { statisticsRoutes } from './statistics/routes.ts';
import { chatRoutes } from './calls/text-chat/routes.ts';
import { languageModelRoutes } from './language-models/routes.ts';
import { telephonyConfigRoutes } from './telephony-configs/routes.ts';
import { carrierRoutes } from './calls/carrier/routes.ts';
import { cleanUrl } from './http/middleware/clean-url.ts';
import { allowOrigins } from './http/middleware/cors.ts';
import { authenticate } from './accounts/authentication/authenticate-request.ts';
import type { HttpEnvironment } from './http/environment.ts';
import { answerError, answerInvalid } from './http/errors.ts';
import { serveAsset, serveConsole, serveConsoleFile, serveServiceIndex, wantsPage } from './http/assets.ts';
import { answerMisconfigured, healthRoutes, isHealthRequest } from './health.ts';
import { replayIdempotentRequests } from './http/middleware/idempotency.ts';
import { basePath } from './http/public-url.ts';
import { lazyModule } from './library/lazy-module.ts';
import type { openApiDocument } from './openapi/document.ts';
import { serveDocument } from './openapi/serve-document.ts';
import { BadSettingsError } from './settings.ts';
import { readJsonBody } from './http/middleware/read-body.ts';
import { logRequest } from './http/middleware/request-log.ts';
import { setSecurityHeaders } from './http/middleware/security-headers.ts';
import { warnAboutUnknownParameters } from './http/middleware/unknown-parameters.ts';

const openApi = lazyModule(() => import('./openapi/document.ts'));

const mebibyte = 1024 * 1024;
/** Paths whose bodies may have more than 1 MiB. */
const bodyLimits = {
  [`${basePath}/contacts/bulk-upsert`]: 16 * mebibyte,
  [`${basePath}/contacts/suppressions/import`]: 16 * mebibyte,
};

export function createApp() {
  const app = new OpenAPIHono<HttpEnvironment>({ strict: false, defaultHook: answerInvalid });
  app.use('*', logRequest);
  app.use('*', setSecurityHeaders);
  app.onError((error, c) => {
    const answer = answerError(error, c);
    return error instanceof BadSettingsError && isHealthRequest(c) ? answerMisconfigured(c) : answer;
  });
  app.use('*', cleanUrl);
  for (const path of [`${basePath}/*`, '/mcp']) app.use(path, allowOrigins);
  app.use(`${basePath}/*`, warnAboutUnknownParameters(app));
  // The console has its own pages: which of them there are, it knows itself.
  app.notFound((c) =>
    wantsPage(c) && !c.req.path.startsWith('/api/')
      ? serveConsole(c)
      : c.json({ detail: `No such path: ${c.req.method} ${c.req.path}` }, 404),
  );

  let kept: ReturnType<typeof openApiDocument> | undefined;
  const document = async () => (kept ??= (await openApi()).openApiDocument(app));
  app.get(`${basePath}/openapi.json`, serveDocument());
  app.route('/', mcpRoutes({ document, dispatch: async (request, c) => app.fetch(request, c.env, c.executionCtx) }));
  app.get('/', serveServiceIndex);
  app.get('/docs/*', serveAsset);
  app.get('/console/*', serveConsoleFile);

  // These routes need no credentials, or verify their own. All routes mounted below them need credentials.
  app.route(basePath, healthRoutes);
  app.route(basePath, signInRoutes);
  app.route(basePath, deletionRoutes);
  app.route(basePath, webhookRoutes);
  app.route(basePath, carrierRoutes);
  app.route(basePath, messagingCallbackRoutes);
  app.route(basePath, campaignUploadRoutes);
  app.route(basePath, documentUploadRoutes);
  app.route(basePath, artifactRoutes);
  app.use(`${basePath}/*`, authenticate);
  app.use(`${basePath}/*`, readJsonBody(bodyLimits));
  app.use(
    `${basePath}/*`,
    replayIdempotentRequests({
      secret: /^\/api\/v1\/(auth|user\/api-keys|organizations\/(members|invitations|ownership|leave)|webhook-endpoints)(\/|$)/,
      // An event's key is its event_id, which its row keeps.
      ownKeys: /^\/api\/v1\/events$/,
      // These may wait for the tests of an agent.
      longRunning: /^\/api\/v1\/workflow\/\d+(\/verify)?$/,
    }),
  );
  app.route(basePath, sessionRoutes);
  app.route(basePath, passkeyRoutes);
  app.route(basePath, organizationRoutes);
  app.route(basePath, memberRoutes);
  app.route(basePath, invitationRoutes);
  app.route(basePath, apiKeyRoutes);
  app.route(basePath, auditLogRoutes);
  app.route(basePath, contactRoutes);
  app.route(basePath, contactCallRoutes);
  app.route(basePath, contactPolicyRoutes);
  app.route(basePath, timelineRoutes);
  app.route(basePath, campaignRoutes);
  app.route(basePath, knowledgeBaseRoutes);
  app.route(basePath, simtestRoutes);
  app.route(basePath, eventRoutes);
  app.route(basePath, eventOutcomeRoutes);
  app.route(basePath, integrationRoutes);
  app.route(basePath, runMoveRoutes);
  app.route(basePath, runRoutes);
  app.route(basePath, triggerRoutes);
  app.route(basePath, workflowRoutes);
  app.route(basePath, languageModelRoutes);
  app.route(basePath, telephonyConfigRoutes);
  app.route(basePath, agentRoutes);
  app.route(basePath, agentVersionRoutes);
  app.route(basePath, verificationRoutes);
  app.route(basePath, agentRunRoutes);
  app.route(basePath, callListRoutes);
  app.route(basePath, statisticsRoutes);
  app.route(basePath, operationsRoutes);
  app.route(basePath, chatRoutes);
  app.route(basePath, messagingRoutes);
  app.route(basePath, webhookEndpointRoutes);
  return app;
}
