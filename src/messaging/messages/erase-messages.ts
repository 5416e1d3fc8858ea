import type { Context } from '../../context.ts';
import { eraseMessagesTo } from './store.ts';

const pageSize = 500;

/** Erases a deleted contact from a page of the messages to it; the messages stay in the log. True: no message is left. */
export const eraseMessages = async ({ database, organization }: Context, contactId: number): Promise<boolean> =>
  (await eraseMessagesTo(database, organization.id, contactId, pageSize)) < pageSize;
