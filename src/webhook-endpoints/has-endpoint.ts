import type { Database, Statement } from '../database/client.ts';

/** Holds when the organization has webhook endpoints. `organization` is SQL. */
export const hasWebhookEndpointSql = (organization: string): string =>
  `EXISTS (SELECT 1 FROM webhook_endpoint h WHERE h.organization_id = ${organization})`;

/**
 * For the batch of a change that webhook endpoints may want to know of: answers a row if the organization has endpoints. Without endpoints it
 * reads no row, and nobody has to be told.
 */
export const selectHasWebhookEndpoint = (database: Database, organizationId: number): Statement<{ has_endpoint: 1 }> =>
  database.prepare<{ has_endpoint: 1 }>(`SELECT 1 AS has_endpoint WHERE ${hasWebhookEndpointSql('?')}`, organizationId);
