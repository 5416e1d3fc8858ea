import { Hono } from 'hono';
import type { Vendor, VendorBindings } from './vendor.ts';

/** A customer's own HTTP endpoint: takes anything on any path and answers with the number under which the ledger has it. */
export const receiver: Vendor = {
  name: 'receiver',
  createRoutes: () => new Hono<{ Bindings: VendorBindings }>().all('*', (c) => c.json({ received: true, id: c.env.record.id })),
};
