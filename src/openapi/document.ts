import type { OpenAPIHono } from '@hono/zod-openapi';
import packageFile from '../../package.json' with { type: 'json' };
import { roles, roleScopes } from '../accounts/authentication/roles.ts';
import { acceptedScopes, missingScope } from '../accounts/authentication/scopes.ts';
import type { Scope } from '../context.ts';
import { sessionCookie } from '../accounts/authentication/authenticate-request.ts';
import type { HttpEnvironment } from '../http/environment.ts';
import { describeParameters } from './describe-parameters.ts';
import { errorReference, extractCommonErrors } from './common-errors.ts';
import { groups, operationIds } from './groups.ts';
import { listOperations, type Document, type Operation } from './document-types.ts';

const title = 'Voice Agent Automation Service';
const description =
  'Voice agents, customer journeys and calling campaigns behind one HTTPS API.\n\n' +
  '- **Credentials**: an API key in `X-API-Key`, or the token of a session as bearer. Each operation names the scope that a key needs.\n' +
  '- **Repeats**: a changing call may carry an `Idempotency-Key`. Sent again with the same query and body within 24 hours, it is answered with the first answer and ' +
  '`Idempotency-Replayed: true`, and nothing is done twice.\n' +
  '- **Lists** answer `limit` records from `offset` on, or from `cursor` on: pass `next_cursor` of one page to get the next.\n' +
  '- **Errors** are `{ "detail": ... }`: a sentence, or with 422 one entry for each field.\n' +
  '- **Units**: times are ISO 8601 in UTC, durations are in seconds unless the name says otherwise, sizes in bytes. `day_of_week` 0 is Monday.\n' +
  '- Every answer carries `X-Request-Id`.\n' +
  '- **Of the runtime**, not of the service, are answers in plain text without `X-Request-Id`: 414 to an address over 64 KiB (Cloudflare: 16 KB), 431 to headers over about ' +
  '490 KiB (Cloudflare: 128 KB), and on Cloudflare 413 to a body over the plan of the zone (100 MB and more).';

/** The server in a document that no deployment serves. */
const servers = [
  { url: 'http://127.0.0.1:8787', description: 'On your machine, by npm start' },
  { url: 'https://{host}', description: 'Your deployment', variables: { host: { default: 'example.com', description: 'Its host name' } } },
];

/** The OpenAPI document of the app's routes, grouped and ordered, with the parts that all operations share. */
export function openApiDocument(app: OpenAPIHono<HttpEnvironment>) {
  const generated = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title,
      version: packageFile.version,
      description,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers,
    tags: Object.entries(groups).map(([name, group]) => ({ name, description: group.description, 'x-displayName': group.title })),
  });
  const document = generated as unknown as Document;
  document.paths = sortPaths(document.paths);
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) completeOperation(method, path, operation);
  describeResponses(document);
  const responses = extractCommonErrors(listOperations(document));
  document.components = { ...document.components, securitySchemes, parameters: { IdempotencyKey: idempotencyKey }, responses };
  delete document.webhooks;
  return generated;
}

const securitySchemes = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'A key of an organization, which begins with `vaa_`. The scope that it needs stands at each operation.',
  },
  Session: { type: 'http', scheme: 'bearer', description: 'The token that sign-in answers, which begins with `vas_`.' },
  SessionCookie: { type: 'apiKey', in: 'cookie', name: sessionCookie, description: 'The same token as browsers keep it.' },
};

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A name of your choice for this request. Sent again within 24 hours with the same query and body, it is answered with the first answer; with another query or body it is a 422 of the type `key_reused`.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** Sorts by the positions of `operationIds`; operations that are not listed come last. */
function sortPaths(paths: Document['paths']): Document['paths'] {
  const position = new Map(operationIds.map((id, index) => [id, index]));
  const of = (operation: Operation) => position.get(operation.operationId ?? '') ?? operationIds.length;
  const sorted = Object.entries(paths).map(([path, methods]) => {
    const operations = Object.entries(methods).toSorted(([, one], [, other]) => of(one) - of(other));
    return { path, operations, at: of(operations[0]![1]) };
  });
  return Object.fromEntries(
    sorted.toSorted((one, other) => one.at - other.at).map(({ path, operations }) => [path, Object.fromEntries(operations)]),
  );
}

/** These need a session: an API key belongs to one organization, and has nothing to sign out of. */
const sessionOnlyOperations = new Set([
  'auth.logOut',
  'auth.createSignInLink',
  'auth.logOutEverywhere',
  'auth.changePassword',
  'auth.deleteAccount',
  'auth.createOrganization',
  'auth.selectOrganization',
  'auth.listSessions',
  'auth.endSession',
  'passkeys.start',
  'passkeys.add',
  'passkeys.list',
  'passkeys.delete',
  'invitations.join',
  'members.leave',
]);
/** The answers of these operations contain secrets, which are not stored. */
const groupsWithoutIdempotency = new Set(['auth', 'passkeys', 'apiKeys', 'members', 'invitations', 'webhookEndpoints']);

/** Adds the parts that follow from an operation's method, path and id: tag, security, Idempotency-Key, errors. */
function completeOperation(method: string, path: string, operation: Operation): void {
  const [group] = (operation.operationId ?? '').split('.') as [string];
  operation.tags = [group];
  describeParameters(operation);
  const isOpen = operation.security?.length === 0;
  const accepted = acceptedScopes(method.toUpperCase(), path);
  const scope = isOpen || sessionOnlyOperations.has(operation.operationId!) ? null : toKeyScope(accepted[0] ?? null);
  if (!isOpen) operation['x-roles'] = roles.filter((role) => missingScope(roleScopes[role], method.toUpperCase(), path) === null);
  if (!isOpen) operation.security = [...(scope ? [{ ApiKey: [] }] : []), { Session: [] }, { SessionCookie: [] }];
  if (scope) operation['x-scope'] = scope;
  const opening = isOpen
    ? 'Open without credentials.'
    : scope
      ? `An API key needs the scope \`${scope}\`${accepted[0] === 'owner' ? ' and an owner who made it' : ''}. A person needs the role ${toWords(operation['x-roles'] as string[])}.`
      : 'Needs a session; an API key has none.';
  operation.description = [operation.description, opening].filter(Boolean).join('\n\n');
  const takesKey = !isOpen && method !== 'get' && !groupsWithoutIdempotency.has(group);
  if (takesKey) operation.parameters = [...(operation.parameters ?? []), { $ref: '#/components/parameters/IdempotencyKey' }];
  const takesJson = operation.requestBody?.content?.['application/json'] !== undefined;
  const alsoErrors = [...(scope ? [403] : []), ...(takesJson ? [400, 413, 415] : [])];
  operation.responses = { ...Object.fromEntries(alsoErrors.map((status) => [status, errorReference(status)])), ...operation.responses };
}

/** The scope of keys for what only owners may do. */
const toKeyScope = (scope: Scope | null): Scope | null => (scope === 'owner' ? 'admin' : scope);

const toWords = (names: string[]): string =>
  names.length < 2
    ? `\`${names[0]}\``
    : `${names
        .slice(0, -1)
        .map((name) => `\`${name}\``)
        .join(', ')} or \`${names.at(-1)}\``;

/** An answer without a description has the description of its schema. */
function describeResponses(document: Document): void {
  const schemas = document.components['schemas'] as Record<string, { description?: string }>;
  for (const { responses } of listOperations(document))
    for (const response of Object.values(responses)) {
      if (response.description !== 'Success') continue;
      const [media] = Object.values(response.content ?? {});
      const schema = media?.schema as { $ref?: string; description?: string } | undefined;
      const described = schema?.$ref ? schemas[schema.$ref.split('/').at(-1)!] : schema;
      response.description = described?.description ?? 'Success';
    }
}
