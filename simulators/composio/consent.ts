import { Hono } from 'hono';
import type { VendorBindings } from '../vendor.ts';
import { toolkitOf, type Account, type AccountStore } from './accounts.ts';

/**
 * The page on which a person consents, `/link/{token}`. Buttons lead to the same address with `?decision=approve` or `deny`; `&scopes=a,b`
 * grants these alone.
 */
export function consentRoutes(book: AccountStore): Hono<{ Bindings: VendorBindings }> {
  const routes = new Hono<{ Bindings: VendorBindings }>();
  routes.get('/:token', (c) => {
    const account = book.ofLink(c.req.param('token'));
    if (account === undefined) return c.html(page('This link does not exist', ''), 404);
    if (account.status !== 'INITIALIZING' && account.status !== 'INITIATED')
      return c.html(page('This link has been used or has expired', `<p>The connection is ${account.status}.</p>`), 410);
    const { decision, scopes } = c.req.query();
    if (decision !== 'approve' && decision !== 'deny') {
      if (account.status === 'INITIALIZING') book.change(account, { status: 'INITIATED' });
      return c.html(question(account));
    }
    if (decision === 'approve')
      book.change(account, { status: 'ACTIVE', status_reason: null, scopes: scopes?.split(',') ?? toolkitOf(account).scopes });
    else book.change(account, { status: 'FAILED', status_reason: 'OAuth callback failed during token exchange' });
    if (account.callback_url !== null) return c.redirect(returnAddress(account.callback_url, account));
    return c.html(page(decision === 'approve' ? 'Connected' : 'Not connected', '<p>You can close this page.</p>'));
  });
  return routes;
}

function returnAddress(callback: string, { id, status }: Account): string {
  const url = new URL(callback);
  url.searchParams.set('status', status === 'ACTIVE' ? 'success' : 'failed');
  url.searchParams.set('connected_account_id', id);
  return url.href;
}

function question(account: Account): string {
  const { slug, scopes } = toolkitOf(account);
  const items = scopes.map((scope) => `<li>${scope}</li>`).join('');
  const choice = '<p><a href="?decision=approve">Approve</a> <a href="?decision=deny">Deny</a></p>';
  return page(`Connect ${slug}`, `<p>The simulated broker asks for:</p><ul>${items}</ul>${choice}`);
}

const page = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body><h1>${title}</h1>${content}</body></html>`;
