import type { Context } from '../accounts/context.ts';
import { decodeCursor, listOf, type Found, type Page } from '../http/pagination.ts';
import { notFound } from '../library/errors.ts';
import { callsOfContact } from '../voice-agents/runs/calls-of-contact.ts';
import { RunRecordSchema, type RunRecord } from '../voice-agents/schemas.ts';
import { findContact } from './store.ts';

export const CallPage = listOf('calls', RunRecordSchema);

/** Calls with the contact, newest first. `apiUrl` is the public base of the API. Throws 404 without the contact. */
export async function listCallsOfContact(context: Context, apiUrl: string, contactId: number, page: Page): Promise<Found<RunRecord>> {
  if (!(await findContact(context.database, context.organization.id, contactId))) throw notFound('Contact');
  return callsOfContact(context, apiUrl, contactId, { limit: page.limit, offset: page.offset, after: decodeCursor(page.cursor) });
}
