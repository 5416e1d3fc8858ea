import type { Hono } from 'hono';
import type { RequestRecord } from './request-record.ts';

/** The bindings of a vendor's routes, `c.env`. */
export interface VendorBindings {
  /** The ledger's record of this request. */
  record: RequestRecord;
  /** Cuts the connection after the vendor has done its work: the answer is lost. */
  dropAnswer: () => void;
}

/** The context of a vendor, from its creation to a reset or the end of the simulators. */
export interface VendorContext {
  /** Where the vendor may keep a ledger of its own across restarts; undefined: in memory only. A reset removes it. */
  ledgerFile: string | undefined;
  /** Aborted when this vendor is replaced or the simulators end: the vendor stops all its work. */
  signal: AbortSignal;
  /** Calls another vendor by its own path; the request is recorded, and faults apply. Undefined: the answer is lost. */
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
