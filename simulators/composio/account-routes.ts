import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { readJsonObject } from '../grants.ts';
import type { VendorBindings } from '../vendor.ts';
import { accountResource, type Account, type AccountStore } from './accounts.ts';
import { projectOf } from './credentials.ts';
import { badRequest, ComposioError, noSuchAccount } from './errors.ts';
import { toolkits } from './toolkits.ts';

const LinkBody = z.strictObject({
  auth_config_id: z.string(),
  user_id: z.string().min(1),
  callback_url: z.url().optional(),
  connection_data: z.record(z.string(), z.string()).optional(),
  alias: z.string().optional(),
});

const listQuery = new Set(
  'user_ids auth_config_ids toolkit_slugs statuses connected_account_ids limit cursor order_by order_direction'.split(' '),
);

/** Paths under `/api/v3.1/connected_accounts`. */
export function accountRoutes(book: AccountStore): Hono<{ Bindings: VendorBindings }> {
  const routes = new Hono<{ Bindings: VendorBindings }>();
  const accountOf = (c: Context): Account => {
    const account = book.find(c.req.param('id')!);
    if (account?.project !== projectOfRequest(c)) throw noSuchAccount(c.req.param('id')!);
    return account;
  };

  routes.post('/link', async (c) => {
    const parsed = LinkBody.safeParse(await readJsonObject(c.req.raw));
    if (!parsed.success) throw badRequest(`Invalid request data provided: ${z.prettifyError(parsed.error)}`);
    const { auth_config_id, user_id, callback_url = null, connection_data = {} } = parsed.data;
    const toolkit = toolkits[auth_config_id];
    if (toolkit === undefined)
      throw new ComposioError(404, `Auth config "${auth_config_id}" not found`, { slug: 'AuthConfig_NotFound', code: 601 });
    if (toolkit.requires.length > 0 && !toolkit.requires.some((name) => connection_data[name]))
      throw badRequest(`Missing required fields: ${toolkit.requires.join(' or ')}`);
    const account = book.create({ project: projectOfRequest(c), user_id, auth_config_id, callback_url, connection_data });
    return c.json(
      {
        link_token: account.link_token,
        redirect_url: `${new URL(c.req.url).origin}/composio/link/${account.link_token}`,
        expires_at: new Date(account.expires).toISOString(),
        connected_account_id: account.id,
      },
      201,
    );
  });

  routes.get('/', (c) => {
    const unknown = Object.keys(c.req.query()).find((name) => !listQuery.has(name));
    if (unknown !== undefined) throw badRequest(`Unrecognized key: "${unknown}"`);
    const wanted = (name: string) => (c.req.queries(name) ?? []).flatMap((value) => value.split(','));
    const isWanted = (name: string, value: string) => wanted(name).length === 0 || wanted(name).includes(value);
    const found = book
      .list()
      .filter(
        (account) =>
          account.project === projectOfRequest(c) &&
          isWanted('user_ids', account.user_id) &&
          isWanted('auth_config_ids', account.auth_config_id) &&
          isWanted('toolkit_slugs', toolkits[account.auth_config_id]!.slug) &&
          isWanted('statuses', account.status) &&
          isWanted('connected_account_ids', account.id),
      );
    const limit = Number(c.req.query('limit') ?? 20);
    const sorted = c.req.query('order_direction') === 'asc' ? found.toReversed() : found;
    return c.json({
      items: sorted.slice(0, limit).map(accountResource),
      next_cursor: null,
      total_items: found.length,
      total_pages: Math.ceil(found.length / limit),
      current_page: 1,
    });
  });

  routes.get('/:id', (c) => c.json(accountResource(accountOf(c))));

  routes.post('/:id/revoke', (c) => {
    const account = accountOf(c);
    const tokens = account.status === 'ACTIVE' ? ['access_token', 'refresh_token'] : [];
    book.change(account, { status: 'REVOKED', status_reason: 'Revoked via user-initiated revoke endpoint' });
    return c.json({ revoked_tokens: tokens, connected_account: { id: account.id, status: account.status } });
  });

  routes.delete('/:id', (c) => {
    book.change(accountOf(c), { is_deleted: true });
    return c.json({ success: true });
  });
  return routes;
}

const projectOfRequest = (c: Context): string => projectOf(c.req.header('x-api-key')!);
