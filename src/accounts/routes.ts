import { createRoute, z } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import { createArea, errorResponses, jsonBody, jsonResponse, pathId } from '../http/area.ts';
import { tokenOf } from '../http/credentials.ts';
import type { HttpEnvironment } from '../http/environment.ts';
import { cut, decodeCursor, envelope, pageQuery } from '../http/pagination.ts';
import { catalog } from '../database/shards.ts';
import { badRequest, notFound } from '../library/errors.ts';
import { sha256Hex } from '../library/hash.ts';
import { archiveApiKey, mintApiKey } from './api-keys.ts';
import { forgetCredential, forgetOrganization } from './authenticate.ts';
import { apiKeyRecord, organizationRecord, userRecord } from './records.ts';
import * as schemas from './schemas.ts';
import { logIn, sessionDays, signUp, type SignedIn } from './sign-in.ts';
import * as store from './store.ts';

const signUpRoute = createRoute({
  method: 'post',
  path: '/auth/signup',
  tags: ['accounts'],
  summary: 'Sign up, with a first organization when one is named',
  security: [],
  request: { body: jsonBody(schemas.SignUpBody) },
  responses: { 200: jsonResponse(schemas.SessionRecord), ...errorResponses(403, 409) },
});
const logInRoute = createRoute({
  method: 'post',
  path: '/auth/login',
  tags: ['accounts'],
  summary: 'Log in',
  security: [],
  request: { body: jsonBody(schemas.LoginBody) },
  responses: { 200: jsonResponse(schemas.SessionRecord), ...errorResponses() },
});
const logOutRoute = createRoute({
  method: 'post',
  path: '/auth/logout',
  tags: ['accounts'],
  summary: 'End the session',
  responses: { 200: jsonResponse(z.object({ status: z.literal('logged_out') })), ...errorResponses(400) },
});
const meRoute = createRoute({
  method: 'get',
  path: '/auth/me',
  tags: ['accounts'],
  summary: 'Who is calling, and for which organization',
  responses: { 200: jsonResponse(schemas.MeRecord), ...errorResponses() },
});
const createOrganizationRoute = createRoute({
  method: 'post',
  path: '/auth/organizations',
  tags: ['accounts'],
  summary: 'Create an organization and select it',
  request: { body: jsonBody(schemas.OrganizationNameBody) },
  responses: { 200: jsonResponse(schemas.OrganizationRecord), ...errorResponses(400) },
});
const selectOrganizationRoute = createRoute({
  method: 'post',
  path: '/auth/organization',
  tags: ['accounts'],
  summary: 'Select the organization that the session works in',
  request: { body: jsonBody(schemas.SelectOrganizationBody) },
  responses: { 200: jsonResponse(schemas.OrganizationRecord), ...errorResponses(400, 404) },
});
const getOrganizationRoute = createRoute({
  method: 'get',
  path: '/organizations/current',
  tags: ['accounts'],
  summary: 'The organization, its settings and its plan',
  responses: { 200: jsonResponse(schemas.OrganizationRecord), ...errorResponses(400) },
});
const patchOrganizationRoute = createRoute({
  method: 'patch',
  path: '/organizations/current',
  tags: ['accounts'],
  summary: 'Change name, default country or time zone',
  request: { body: jsonBody(schemas.OrganizationSettingsBody) },
  responses: { 200: jsonResponse(schemas.OrganizationRecord), ...errorResponses(400, 403) },
});
const mintRoute = createRoute({
  method: 'post',
  path: '/user/api-keys',
  tags: ['accounts'],
  summary: 'Mint an API key; its text is shown this once',
  request: { body: jsonBody(schemas.ApiKeyBody) },
  responses: { 200: jsonResponse(schemas.NewApiKeyRecord), ...errorResponses(400, 403) },
});
const listKeysRoute = createRoute({
  method: 'get',
  path: '/user/api-keys',
  tags: ['accounts'],
  summary: 'List API keys',
  request: {
    query: z.object({ ...pageQuery, status: z.enum(['active', 'archived']).default('active'), search: z.string().max(200).optional() }),
  },
  responses: { 200: jsonResponse(schemas.ApiKeyList), ...errorResponses(400, 403) },
});
const archiveKeyRoute = createRoute({
  method: 'delete',
  path: '/user/api-keys/{id}',
  tags: ['accounts'],
  summary: 'Revoke an API key; it stops working within 5 seconds',
  request: { params: z.object({ id: pathId }) },
  responses: { 200: jsonResponse(schemas.ApiKeyRecord), ...errorResponses(400, 403, 404) },
});
const reactivateKeyRoute = createRoute({
  method: 'put',
  path: '/user/api-keys/{id}/reactivate',
  tags: ['accounts'],
  summary: 'Make a revoked API key work again',
  request: { params: z.object({ id: pathId }) },
  responses: { 200: jsonResponse(schemas.ApiKeyRecord), ...errorResponses(400, 403, 404) },
});

const now = () => Date.now();
const callerAddress = (c: HonoContext<HttpEnvironment>) => c.req.header('cf-connecting-ip') ?? 'local';

function signedIn(c: HonoContext<HttpEnvironment>, { token, user, organization }: SignedIn) {
  setCookie(c, 'session', token, { httpOnly: true, secure: true, sameSite: 'Lax', path: '/', maxAge: sessionDays * 86_400 });
  return { token, user: userRecord(user), organization: organization && organizationRecord(organization, c.var.settings) };
}

/** The caller's session with its user; an API key has none. */
async function currentSession(c: HonoContext<HttpEnvironment>) {
  const token = tokenOf(c);
  const session = token && (await store.findSession(catalog(c.env), sha256Hex(token), now()));
  if (!token || !session) throw badRequest('This call needs a session, not an API key; log in first');
  return { token, ...session };
}

export const accountRoutes = createArea()
  .openapi(signUpRoute, async (c) => c.json(signedIn(c, await signUp(c.env, c.req.valid('json'), now())), 200))
  .openapi(logInRoute, async (c) => c.json(signedIn(c, await logIn(c.env, c.req.valid('json'), callerAddress(c), now())), 200))
  .openapi(logOutRoute, async (c) => {
    const { token } = await currentSession(c);
    await store.deleteSession(catalog(c.env), sha256Hex(token));
    forgetCredential(token);
    deleteCookie(c, 'session', { path: '/', secure: true });
    return c.json({ status: 'logged_out' as const }, 200);
  })
  .openapi(meRoute, async (c) => {
    const user = await store.findUser(catalog(c.env), c.var.caller.userId);
    const organization = c.var.context && (await store.findOrganization(catalog(c.env), c.var.context.organization.id));
    if (!user) throw notFound('User');
    return c.json({ user: userRecord(user), organization: organization ? organizationRecord(organization, c.var.settings) : null }, 200);
  })
  .openapi(createOrganizationRoute, async (c) => {
    const { token, user } = await currentSession(c);
    const row = await store.insertOrganization(catalog(c.env), user.id, c.req.valid('json').name, now());
    await store.selectOrganization(catalog(c.env), sha256Hex(token), row.id);
    forgetCredential(token);
    return c.json(organizationRecord(row, c.var.settings), 200);
  })
  .openapi(selectOrganizationRoute, async (c) => {
    const { token, user } = await currentSession(c);
    const id = c.req.valid('json').organization_id;
    const row = (await store.isMember(catalog(c.env), user.id, id)) && (await store.findOrganization(catalog(c.env), id));
    if (!row) throw notFound('Organization');
    await store.selectOrganization(catalog(c.env), sha256Hex(token), id);
    forgetCredential(token);
    return c.json(organizationRecord(row, c.var.settings), 200);
  })
  .openapi(getOrganizationRoute, async (c) => {
    const row = await store.findOrganization(catalog(c.env), c.var.context.organization.id);
    return c.json(organizationRecord(row!, c.var.settings), 200);
  })
  .openapi(patchOrganizationRoute, async (c) => {
    const { name, default_country, timezone } = c.req.valid('json');
    const { id } = c.var.context.organization;
    const change = { ...(name && { name }), ...(default_country && { defaultCountry: default_country }), ...(timezone && { timezone }) };
    const row = Object.keys(change).length
      ? await store.updateOrganization(catalog(c.env), id, change)
      : await store.findOrganization(catalog(c.env), id);
    forgetOrganization(id);
    return c.json(organizationRecord(row!, c.var.settings), 200);
  })
  .openapi(mintRoute, async (c) => {
    const { row, key } = await mintApiKey(c.var.context, c.var.caller, c.req.valid('json'));
    return c.json({ ...apiKeyRecord(row, now()), api_key: key }, 200);
  })
  .openapi(listKeysRoute, async (c) => {
    const { status, search, ...page } = c.req.valid('query');
    const { rows, total } = await store.listApiKeys(catalog(c.env), c.var.context.organization.id, {
      isArchived: status === 'archived',
      search,
      before: decodeCursor(page.cursor)?.id,
      limit: page.limit + 1,
      offset: page.offset,
    });
    const found = { ...cut(rows, page.limit, (row) => ({ value: null, id: row.id })), total };
    return c.json(
      envelope('api_keys', page, found, (row) => apiKeyRecord(row, now())),
      200,
    );
  })
  .openapi(archiveKeyRoute, async (c) =>
    c.json(apiKeyRecord(await archiveApiKey(c.var.context, c.req.valid('param').id, true), now()), 200),
  )
  .openapi(reactivateKeyRoute, async (c) =>
    c.json(apiKeyRecord(await archiveApiKey(c.var.context, c.req.valid('param').id, false), now()), 200),
  );
