import type { Hono } from 'hono';
import type { RequestRecord } from './request-record.ts';

/** What a vendor's routes find in `c.env`. */
export interface VendorBindings {
  /** This request as it stands in the ledger. */
  record: RequestRecord;
  /** Cuts the connection once the vendor has done its work: whatever it answers is lost. */
  dropAnswer: () => void;
}

/** What a vendor lives in, from its creation to a reset or the end of the simulators. */
export interface VendorContext {
  /** Where the vendor may keep a ledger of its own across restarts; undefined: in memory only. A reset removes it. */
  ledgerFile: string | undefined;
  /** Aborted when this vendor is replaced or everything ends: it stops all that it has going on. */
  signal: AbortSignal;
  /** Asks another vendor as anybody would: recorded, and with its faults. The path is that vendor's own. Undefined: its answer is lost. */
  ask: (provider: string, request: Request) => Promise<Response | undefined>;
}

/** One outside system, mounted at `/{name}`. */
export interface Vendor {
  /** Also its name in faults and in `?provider=`. */
  name: string;
  /**
   * Its own paths, without the mount, with its own answers to unknown ones. Called once for each set of simulators, and again by a reset.
   * Paths under `/__sim/` steer this vendor alone: requests to them are not recorded, and find nothing in `c.env`.
   */
  createRoutes: (world: VendorContext) => Hono<{ Bindings: VendorBindings }>;
}
