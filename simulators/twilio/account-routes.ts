import { Hono } from 'hono';
import type { VendorBindings } from '../vendor.ts';
import { requireAccount } from './credentials.ts';

/** Paths under `/2010-04-01`: an account, its numbers, and its error log, which is empty. */
export function accountRoutes(): Hono<{ Bindings: VendorBindings }> {
  const routes = new Hono<{ Bindings: VendorBindings }>();
  routes.get('/Accounts/:file{AC[0-9a-fA-F]{32}\\.json}', (c) => {
    const { accountSid } = requireAccount(c.req.header('authorization'), c.req.param('file').slice(0, -5));
    return c.json({ sid: accountSid, friendly_name: 'A simulated account', status: 'active', type: 'Full' });
  });
  routes.get('/Accounts/:account/IncomingPhoneNumbers.json', (c) => {
    const { accountSid } = requireAccount(c.req.header('authorization'), c.req.param('account'));
    const number = { account_sid: accountSid, phone_number: '+15005550006', capabilities: { voice: true, sms: true } };
    return c.json({ incoming_phone_numbers: [number], page: 0, page_size: 50, next_page_uri: null });
  });
  routes.get('/Accounts/:account/Notifications.json', (c) => {
    requireAccount(c.req.header('authorization'), c.req.param('account'));
    return c.json({ notifications: [], page: 0, page_size: 50 });
  });
  return routes;
}
