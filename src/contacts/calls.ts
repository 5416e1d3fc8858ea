import { z } from '@hono/zod-openapi';
import type { Context } from '../accounts/context.ts';
import { timestamp } from '../http/area.ts';
import { listOf, type Found } from '../http/pagination.ts';
import { notFound } from '../library/errors.ts';
import { findContact } from './store.ts';

/** A voice agent run, and what had the contact called. */
const CallRecord = z
  .object({
    id: z.int(),
    workflow_id: z.int(),
    name: z.string(),
    mode: z.string(),
    call_type: z.string(),
    is_completed: z.boolean(),
    outcome: z.string().nullable(),
    campaign_id: z.int().nullable(),
    automation_run_id: z.int().nullable(),
    created_at: timestamp,
  })
  .openapi('CallOfContact');
export const CallPage = listOf('calls', CallRecord);

/** Voice calls placed to the contact, newest first: none, as long as the service places none. Throws 404 without the contact. */
export async function listCallsOfContact(context: Context, contactId: number): Promise<Found<z.infer<typeof CallRecord>>> {
  if (!(await findContact(context.database, context.organization.id, contactId))) throw notFound('Contact');
  return { rows: [], total: 0, next: null };
}
