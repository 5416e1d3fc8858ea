import type { App } from '../../library/connectable-apps.ts';

/** `pending`: the person has not consented yet. `disabled`: switched off at the broker. */
export type ConnectionStatus = 'pending' | 'active' | 'failed' | 'expired' | 'disabled' | 'revoked';

/** A connection as the broker knows it. It holds no token. */
export interface BrokerConnection {
  id: string;
  /** Whom it was started for: to be compared before anything is believed of it. */
  owner: string;
  /** Undefined: nothing that the service connects. */
  app: App | undefined;
  status: ConnectionStatus;
  /** Why it is in this status, in the broker's words. */
  reason?: string;
}

/**
 * `not_connected`: the connection is gone or dead; only connecting again helps. `insufficient_permissions`: the grant does not cover this.
 * `rejected`: the provider, or the broker, will not do it, now or later. `rate_limited` and `unavailable` pass.
 */
export type AppFailureKind = 'not_connected' | 'insufficient_permissions' | 'rejected' | 'rate_limited' | 'unavailable';

export interface AppFailure {
  failure: AppFailureKind;
  /** For a user, without secrets. Of `insufficient_permissions` it is the detail, such as "needs channels:read". */
  message: string;
  /** The provider's own code, where it has given one. */
  code?: string;
  /** At most an hour, whatever the provider says. */
  retryAfterSeconds?: number;
  /** It may have been done nevertheless: look before doing it again. */
  outcomeUnknown?: true;
}

/** A request to a provider's own API. The broker adds the credentials. */
export interface AppRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, without a query. */
  url: string;
  query?: Record<string, string | string[]>;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
}

/** The provider's own answer, whatever its status. */
export interface AppResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Parsed where it is JSON. Integers beyond 2^53 are strings. */
  data: unknown;
}

/** Holds the grants of customers at other systems, and calls these systems under them. Nothing here throws. */
export interface Broker {
  /** The active connection of this owner, the newest if there are several. */
  findActive(owner: string, app: App): Promise<{ connection: BrokerConnection | null } | AppFailure>;
  /** Opens a connection that becomes active when the person consents at `redirectUrl`. `params`: `subdomain` of a tracker, `region` of books. */
  start(
    owner: string,
    app: App,
    params?: Record<string, string>,
    callbackUrl?: string,
  ): Promise<{ requestId: string; redirectUrl: string; expiresAt?: string } | AppFailure>;
  /** `requestId` of `start` is the connection's id. Null: the broker knows none of it. */
  get(id: string): Promise<{ connection: BrokerConnection | null } | AppFailure>;
  /** Ends the grant and forgets the connection; one that is gone already is done. `isRevoked` false: the provider may still honour the grant. */
  revoke(id: string): Promise<{ isRevoked: boolean } | AppFailure>;
  /** A failure here is one of the broker; failures of the provider are answers. */
  request(id: string, request: AppRequest): Promise<AppResponse | AppFailure>;
}
