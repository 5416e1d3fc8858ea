import { createRoute, z } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import packageFile from '../package.json' with { type: 'json' };
import { findDatabaseFault, type DatabaseFault } from './database/migration-state.ts';
import { shardBindings } from './database/shards.ts';
import { readDatabaseSizes } from './database/database-size.ts';
import { createRouter, errorResponses, jsonResponse } from './http/router.ts';
import { isAdmin } from './accounts/authentication/authenticate-request.ts';
import type { HttpEnvironment } from './http/environment.ts';
import { apiUrl, basePath } from './http/public-url.ts';

const healthyTtlMs = 5_000;
const timeoutMs = 5_000;

const shared = {
  version: z.string().openapi({ description: 'Version of the service', example: '0.1.0' }),
  backend_api_endpoint: z.string().openapi({ description: 'Address of the API, which every path begins with' }),
  deployment_mode: z.enum(['local', 'cloud']).describe('`local`: on the machine of a developer; `cloud`: deployed.'),
  auth_provider: z.literal('local').describe('Who keeps the users: the service itself.'),
};

const databaseRecord = z
  .object({
    name: z.string().openapi({ description: 'Its binding: `DB`, `DB_1` ...', example: 'DB' }),
    size_bytes: z
      .int()
      .openapi({ description: 'How large it was at the last minute tick, in bytes; 0 before the first', example: 734_003_200 }),
    limit_bytes: z
      .int()
      .openapi({ description: 'How large it may become, in bytes (`DATABASE_LIMIT_MEGABYTES`)', example: 10_000_000_000 }),
    is_full: z.boolean().describe('It is at 60 % of its limit or beyond: it takes no new organizations. Those that are there go on.'),
  })
  .describe('How full a database is.');

const HealthRecord = z
  .object({
    status: z.literal('ok').describe('Always `ok`: the database answers, and its migrations are those of the code.'),
    ...shared,
    databases: z
      .array(databaseRecord)
      .optional()
      .describe('For callers with an API key of scope `admin`, or with a session; absent for others. How full each database is.'),
  })
  .describe('The service is up.')
  .openapi('Health');

const UnhealthyRecord = z
  .object({
    status: z.enum(['database_unreachable', 'migrations_missing', 'database_newer', 'misconfigured']).openapi({
      description:
        '`database_unreachable`: no answer within 5 seconds. `migrations_missing`: the database lacks `migrations`. `database_newer`: it has `migrations` that this version does not know. ' +
        '`misconfigured`: a setting is missing or wrong',
    }),
    detail: z.string().openapi({ description: 'What is wrong, and what to do' }),
    migrations: z.array(z.string()).openapi({ description: 'The migrations that make the difference' }),
    version: shared.version,
  })
  .describe('The service cannot work, and why.')
  .openapi('Unhealthy');

const healthRoute = createRoute({
  method: 'get',
  path: '/health',
  operationId: 'health.get',
  summary: 'Whether the service is up with a database of its version',
  security: [],
  responses: {
    200: jsonResponse(HealthRecord),
    ...errorResponses(),
    503: jsonResponse(UnhealthyRecord, 'The service cannot work; `status` says why'),
  },
});

export const healthRoutes = createRouter().openapi(healthRoute, async (c) => {
  const fault = await databaseFault(c.env);
  if (fault !== undefined) {
    c.var.log.warn('unhealthy', fault);
    return c.json({ status: fault.status, detail: toDetail(fault), migrations: fault.migrations, version: packageFile.version }, 503);
  }
  return c.json(
    {
      status: 'ok' as const,
      version: packageFile.version,
      backend_api_endpoint: apiUrl(c),
      deployment_mode: c.var.settings.DEPLOYMENT_MODE,
      auth_provider: 'local' as const,
      ...((await isAdmin(c)) && { databases: await readDatabaseRecords(c.env, c.var.settings.DATABASE_LIMIT_MEGABYTES) }),
    },
    200,
  );
});

async function readDatabaseRecords(bindings: Env, limitMegabytes: number) {
  const sizes = await readDatabaseSizes(bindings, limitMegabytes);
  return sizes.map(({ name, bytes, limitBytes, isFull }) => ({ name, size_bytes: bytes, limit_bytes: limitBytes, is_full: isFull }));
}

export const isHealthRequest = (c: HonoContext<HttpEnvironment>) => c.req.path.replace(/\/$/, '') === `${basePath}/health`;

/** Without usable settings no route is reached. The log names the bad setting; this answer does not, since anybody may ask. */
export const answerMisconfigured = (c: HonoContext<HttpEnvironment>) =>
  c.json(
    {
      status: 'misconfigured' as const,
      detail: 'A setting of the service is missing or wrong; its log names it',
      migrations: [],
      version: packageFile.version,
    },
    503,
  );

const checks = new WeakMap<object, { fault: Promise<DatabaseFault | undefined>; goodUntil: number }>();

/** Checks the databases: one check at a time in an isolate, and after a good result none for 5 s. */
async function databaseFault(bindings: Env): Promise<DatabaseFault | undefined> {
  const known = checks.get(bindings);
  if (known && Date.now() < known.goodUntil) return known.fault;
  const check = { fault: findDatabaseFault(shardBindings(bindings), timeoutMs), goodUntil: Date.now() + timeoutMs };
  checks.set(bindings, check);
  const fault = await check.fault;
  check.goodUntil = fault === undefined ? Date.now() + healthyTtlMs : 0;
  return fault;
}

function toDetail({ status, database, migrations }: DatabaseFault): string {
  const names = migrations.join(', ');
  if (status === 'database_unreachable') return `The database ${database} does not answer`;
  if (status === 'migrations_missing')
    return `The database ${database} lacks ${names}; apply the migrations ("npm run deploy", or locally "npm start" or "wrangler dev")`;
  return `The database ${database} has ${names}, which this version of the service does not know; deploy the version that does`;
}
