import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import packageFile from '../../package.json' with { type: 'json' };
import { accountRoutes } from '../accounts/routes.ts';
import { runRoutes } from '../automation-workflows/runs/routes.ts';
import { triggerRoutes } from '../automation-workflows/triggers/routes.ts';
import { webhookRoutes } from '../automation-workflows/triggers/webhook-routes.ts';
import { workflowRoutes } from '../automation-workflows/workflows/routes.ts';
import { eventRoutes } from '../events/routes.ts';
import { createArea, errorResponses, jsonResponse } from './area.ts';
import { authenticate } from './credentials.ts';
import type { HttpEnvironment } from './environment.ts';
import { answerError, answerInvalid } from './errors.ts';
import { replayRepeats } from './idempotency.ts';
import { apiUrl, basePath } from './public-url.ts';
import { readJsonBody } from './read-body.ts';
import { logRequest } from './request-log.ts';

const HealthRecord = z
  .object({
    status: z.literal('ok'),
    version: z.string(),
    backend_api_endpoint: z.string(),
    deployment_mode: z.enum(['local', 'cloud']),
    auth_provider: z.literal('local'),
  })
  .openapi('Health');

const healthRoute = createRoute({
  method: 'get',
  path: '/health',
  tags: ['health'],
  summary: 'Whether the service is up, and which version',
  security: [],
  responses: { 200: jsonResponse(HealthRecord), ...errorResponses() },
});

const openRoutes = createArea().openapi(healthRoute, (c) =>
  c.json(
    {
      status: 'ok' as const,
      version: packageFile.version,
      backend_api_endpoint: apiUrl(c),
      deployment_mode: c.var.settings.DEPLOYMENT_MODE,
      auth_provider: 'local' as const,
    },
    200,
  ),
);

/** Open without credentials; each is verified by its own means. */
const isOpen = (path: string) => /^\/api\/v1\/(auth\/(signup|login)|health)\/?$/.test(path);

export function createApp() {
  const app = new OpenAPIHono<HttpEnvironment>({ strict: false, defaultHook: answerInvalid });
  app.use('*', logRequest);
  app.onError(answerError);
  app.notFound((c) => c.json({ detail: `No such path: ${c.req.method} ${c.req.path}` }, 404));

  app.get(`${basePath}/openapi.json`, (c) => c.json(openApiDocument(app)));
  app.get('/docs/*', (c) => c.env.ASSETS.fetch(c.req.raw));
  app.get('/docs', (c) => c.redirect('/docs/'));

  app.route(basePath, webhookRoutes);
  app.use(`${basePath}/*`, (c, next) => (isOpen(c.req.path) ? next() : authenticate(c, next)));
  app.use(`${basePath}/*`, readJsonBody);
  app.use(`${basePath}/*`, (c, next) => (isOpen(c.req.path) ? next() : replayRepeats(c, next)));
  app.route(basePath, openRoutes);
  app.route(basePath, accountRoutes);
  app.route(basePath, eventRoutes);
  app.route(basePath, runRoutes);
  app.route(basePath, triggerRoutes);
  app.route(basePath, workflowRoutes);

  app.openAPIRegistry.registerComponent('securitySchemes', 'ApiKey', { type: 'apiKey', in: 'header', name: 'X-API-Key' });
  app.openAPIRegistry.registerComponent('securitySchemes', 'Session', { type: 'http', scheme: 'bearer' });
  return app;
}

export function openApiDocument(app: ReturnType<typeof createApp>) {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Voice Agent Automation Service',
      version: packageFile.version,
      description: 'Voice agents, customer journeys and calling campaigns behind one HTTPS API.',
    },
    security: [{ ApiKey: [] }, { Session: [] }],
  });
}
