import type { Context } from '../../context.ts';
import { books, type Books } from '../../providers/apps/books.ts';
import { isBooksRegion } from '../../providers/broker/connection-params.ts';
import { toAppConnection } from '../connection/active-connection.ts';
import type { BooksData, Integration } from '../contract.ts';

/** The books adapter of an integration, for its selected organization. Throws 404 `not_connected`. */
export function openBooks(context: Context, integration: Integration): Books {
  const { region = '' } = integration.connectionParams;
  const { organization_id: organizationId } = integration.providerData as BooksData;
  return books(toAppConnection(context, integration), { region: isBooksRegion(region) ? region : 'com', organizationId });
}
