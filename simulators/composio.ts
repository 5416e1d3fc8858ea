import { Hono } from 'hono';
import { z } from 'zod';
import { AccountStore, toolkitOf, type Account } from './composio/accounts.ts';
import { accountRoutes } from './composio/account-routes.ts';
import { consentRoutes } from './composio/consent.ts';
import { requireKey } from './composio/credentials.ts';
import { ComposioError } from './composio/errors.ts';
import { proxyRoutes } from './composio/proxy.ts';
import { toolkits } from './composio/toolkits.ts';
import type { Vendor, VendorBindings } from './vendor.ts';

const Clock = z.strictObject({ advance_seconds: z.number() });
const NewBase = z.strictObject({ base_url: z.string().min(1) });
const NewStatus = z.strictObject({
  status: z.enum(['ACTIVE', 'FAILED', 'EXPIRED', 'INACTIVE', 'REVOKED']),
  status_reason: z.string().optional(),
});

/**
 * The connection broker Composio: its API under `/api/v3.1`, the page on which a person consents under `/link`, and its proxy, which asks the
 * simulated vendors under what was granted there.
 */
export const composio: Vendor = {
  name: 'composio',
  createRoutes: ({ ledgerFile, ask }) => {
    const book = new AccountStore(ledgerFile);
    const routes = new Hono<{ Bindings: VendorBindings }>();
    const api = new Hono<{ Bindings: VendorBindings }>();
    api.use(async (c, next) => {
      requireKey(c.req.header('x-api-key'));
      await next();
    });
    api.route('/connected_accounts', accountRoutes(book));
    /** By slug, where a test has given another one. */
    const bases = new Map<string, string>();
    const baseUrlOf = (slug: string) => bases.get(slug) ?? Object.values(toolkits).find((one) => one.slug === slug)?.baseUrl;
    const resolvedBase = (account: Account) =>
      baseUrlOf(toolkitOf(account).slug)!.replace(/\{+([\w.-]+)\}+/g, (_whole, field: string) => account.connection_data[field] ?? 'com');
    api.route('/tools/execute/proxy', proxyRoutes(book, ask, resolvedBase));
    api.get('/toolkits/:slug', (c) => {
      const slug = c.req.param('slug');
      const base = baseUrlOf(slug);
      if (base === undefined) throw new ComposioError(404, `Toolkit ${slug} not found`, { slug: 'Toolkit_NotFound', code: 4304 });
      return c.json({ slug, name: slug, enabled: true, base_url: base, composio_managed_auth_schemes: ['OAUTH2'] });
    });
    api.get('/auth_configs', (c) =>
      c.json({
        items: Object.entries(toolkits).map(([id, { slug }]) => ({
          id,
          name: slug,
          status: 'ENABLED',
          is_composio_managed: true,
          toolkit: { slug },
        })),
        next_cursor: null,
        total_items: Object.keys(toolkits).length,
      }),
    );
    routes.route('/api/v3.1', api);
    routes.route('/link', consentRoutes(book));

    /** Lets time pass for links, which are valid for ten minutes. */
    routes.post('/__sim/clock', async (c) => {
      book.advance(Clock.parse(await c.req.json()).advance_seconds);
      return c.json({ now: new Date(book.now()).toISOString() });
    });
    /** Changes the base address of a toolkit's connections. */
    routes.post('/__sim/toolkits/:slug', async (c) => {
      bases.set(c.req.param('slug'), NewBase.parse(await c.req.json()).base_url);
      return c.json({ slug: c.req.param('slug'), base_url: bases.get(c.req.param('slug')) });
    });
    /** Sets the status of an account, for example when a grant ends at the vendor. */
    routes.post('/__sim/accounts/:id', async (c) => {
      const account = book.find(c.req.param('id'));
      if (account === undefined) return c.json({ error: `There is no account ${c.req.param('id')}` }, 404);
      book.change(account, NewStatus.parse(await c.req.json()));
      return c.json({ id: account.id, status: account.status });
    });
    routes.notFound((c) => new ComposioError(404, `Cannot ${c.req.method} ${c.req.path}`, { slug: 'HTTP_NotFound', code: 404 }).response);
    routes.onError((error) => {
      if (error instanceof ComposioError) return error.response;
      throw error;
    });
    return routes;
  },
};
