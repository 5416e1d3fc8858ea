import type { Context } from '../../accounts/context.ts';
import { books, type Books } from '../../providers/apps/books.ts';
import { isBooksRegion } from '../../providers/broker/connection-params.ts';
import { connectionOf } from '../connection-to.ts';
import type { BooksData, Integration } from '../contract.ts';

/** The books of an integration, in the organization that is selected there. Throws 404 `not_connected`. */
export function booksOf(context: Context, integration: Integration): Books {
  const { region = '' } = integration.connectionParams;
  const { organization_id: organizationId } = integration.providerData as BooksData;
  return books(connectionOf(context, integration), { region: isBooksRegion(region) ? region : 'com', organizationId });
}
