import type { Hono } from 'hono';
import type { RequestRecord } from './request-record.ts';

/** What a vendor's routes find in `c.env`. */
export interface VendorBindings {
  /** This request as it stands in the ledger. */
  record: RequestRecord;
}

/** One outside system, mounted at `/{name}`. */
export interface Vendor {
  /** Also its name in faults and in `?provider=`. */
  name: string;
  /** Its own paths, without the mount, with its own answers to unknown ones. Called once for each set of simulators, and again by a reset. */
  createRoutes: () => Hono<{ Bindings: VendorBindings }>;
}
