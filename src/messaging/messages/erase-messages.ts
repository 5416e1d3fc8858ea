import type { Context } from '../../context.ts';
import { eraseMessagesTo } from './store.ts';

const pageSize = 500;

/** Takes a deleted contact out of a page of the messages to it; that they were sent stays. True: that was all. */
export const eraseMessages = async ({ database, organization }: Context, contactId: number): Promise<boolean> =>
  (await eraseMessagesTo(database, organization.id, contactId, pageSize)) < pageSize;
