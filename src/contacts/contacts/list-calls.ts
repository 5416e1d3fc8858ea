import type { Context } from '../../context.ts';
import { decodeCursor, listSchema, type PageResult, type Page } from '../../http/pagination.ts';
import { notFound } from '../../library/errors.ts';
import { listContactCalls } from '../../calls/records/list-contact-calls.ts';
import { AgentRunRecordSchema, type AgentRunRecord } from '../../voice-agents/schemas.ts';
import { findContact } from './store.ts';

export const CallPage = listSchema('calls', AgentRunRecordSchema);

/** Calls with the contact, newest first. `apiUrl` is the public base of the API. Throws 404 without the contact. */
export async function listCallsOfContact(
  context: Context,
  apiUrl: string,
  contactId: number,
  page: Page,
): Promise<PageResult<AgentRunRecord>> {
  if (!(await findContact(context.database, context.organization.id, contactId))) throw notFound('Contact');
  return listContactCalls(context, apiUrl, contactId, { limit: page.limit, offset: page.offset, after: decodeCursor(page.cursor) });
}
