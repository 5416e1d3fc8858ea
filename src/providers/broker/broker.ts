import type { App } from '../../library/connectable-apps.ts';

/** `pending`: the person has not consented yet. `disabled`: switched off at the broker. */
export type ConnectionStatus = 'pending' | 'active' | 'failed' | 'expired' | 'disabled' | 'revoked';

/** A connection at the broker. It has no token. */
export interface BrokerConnection {
  id: string;
  /** The owner that it was started for. Compare it before using the connection. */
  owner: string;
  /** Undefined: an app that this service does not connect. */
  app: App | undefined;
  status: ConnectionStatus;
  /** The reason of the status, in the broker's words. */
  reason?: string;
}

/**
 * `not_connected`: the connection is gone or dead; only a new connection helps. `insufficient_permissions`: the grant does not allow the
 * request. `rejected`: the provider or the broker refuses it for good. `rate_limited` and `unavailable` are temporary.
 */
export type AppFailureKind = 'not_connected' | 'insufficient_permissions' | 'rejected' | 'rate_limited' | 'unavailable';

export interface AppFailure {
  failure: AppFailureKind;
  /** A sentence for a user, without secrets; of `insufficient_permissions` only the detail, such as "needs channels:read". */
  message: string;
  /** The provider's own code, if any. */
  code?: string;
  /** At most an hour. */
  retryAfterSeconds?: number;
  /** The request may have succeeded: look before repeating it. */
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

/** A provider's answer of any status. */
export interface AppResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Parsed JSON, or text. Integers beyond 2^53 are strings. */
  data: unknown;
}

/** Keeps customers' grants at other systems, and sends requests under them. No method throws. */
export interface Broker {
  /** The newest active connection of an owner; null: none. */
  findActive(owner: string, app: App): Promise<{ connection: BrokerConnection | null } | AppFailure>;
  /**
   * Starts a connection. It becomes active when the person consents at `redirectUrl`. `params`: `subdomain` of a tracker, `region` of
   * books.
   */
  start(
    owner: string,
    app: App,
    params?: Record<string, string>,
    callbackUrl?: string,
  ): Promise<{ requestId: string; redirectUrl: string; expiresAt?: string } | AppFailure>;
  /** A connection by its id, which is the `requestId` of `start`. Null: the broker does not know it. */
  get(id: string): Promise<{ connection: BrokerConnection | null } | AppFailure>;
  /**
   * Revokes the grant and deletes the connection; succeeds for a deleted one. `isRevoked` false: the provider may still accept the grant.
   */
  revoke(id: string): Promise<{ isRevoked: boolean } | AppFailure>;
  /** Sends a request to the provider. A failure is one of the broker; failures of the provider are answers. */
  request(id: string, request: AppRequest): Promise<AppResponse | AppFailure>;
}
