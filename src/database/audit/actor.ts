import { AsyncLocalStorage } from 'node:async_hooks';

/** A person or key that changes configuration, and by which request. Survives an RPC. */
export interface Actor {
  /** The organization of the request; null: it has none. */
  organizationId: number | null;
  requestId: string;
  /** The operationId of the OpenAPI document. */
  action: string;
  userId: number;
  /** `key:{id}`, `session:{id}` or `link`. */
  credential: string;
  /** The network address of the caller; null: unknown. */
  address: string | null;
  /** Epoch ms. */
  at: number;
  /** The record that the request is about, for an entry that no trigger writes. */
  record: { type: string; id: string | null };
  /** The request has one entry, not one for each record: it may change thousands. */
  isSummary: boolean;
}

const current = new AsyncLocalStorage<Actor | undefined>();

/** Runs `work` in the name of `actor`: whatever it writes to D1 is in the audit log. Without an actor, nothing of it is. */
export const actAs = <Result>(actor: Actor | undefined, work: () => Result): Result => current.run(actor, work);

/** Who makes the present change; undefined: the service itself, or a request that is not recorded. */
export const currentActor = (): Actor | undefined => current.getStore();
