import type { Context } from '../../accounts/context.ts';
import { findContacts } from '../../contacts/find-contacts.ts';
import type { ContactRecord } from '../../contacts/records.ts';
import { toTimestamp } from '../../library/clock.ts';
import type { GraphNode } from '../nodes/contract.ts';
import { buildScope } from '../scope.ts';
import type { Scope } from '../templates.ts';
import type { Progress } from './progress.ts';
import type { DeliveryPayload } from './records.ts';

/** What of a run never changes while it lives. */
export interface RunOrigin {
  id: number;
  workflowId: number;
  workflowName: string;
  workflowVersion: number;
  contactId: number | null;
  entryKey: string | null;
  depth: number;
  isTest: boolean;
  createdAt: number;
  initialContext: Record<string, unknown>;
  event: { id: number | null; type: string; data: unknown; created_at: string } | null;
  webhook: DeliveryPayload | null;
}

/** Everything that templates and conditions of a run may read at one node. The contact is read fresh where it is spoken of. */
export async function scopeOfRun(context: Context, origin: RunOrigin, progress: Progress, node: GraphNode, now: number): Promise<Scope> {
  return scopeFor(context, origin, progress, now, speaksOfContact(node) ? await contactOf(context, origin.contactId) : null);
}

export function scopeFor(context: Context, origin: RunOrigin, progress: Progress, now: number, contact: ContactRecord | null): Scope {
  const { organization } = context;
  const roots = {
    contact,
    event: origin.event,
    data: origin.event?.data ?? origin.webhook?.body ?? origin.initialContext,
    webhook: origin.webhook && {
      body: origin.webhook.body,
      raw: origin.webhook.raw,
      headers: origin.webhook.headers,
      query: origin.webhook.query,
    },
    steps: progress.outputs,
    run: {
      id: origin.id,
      automation_workflow_id: origin.workflowId,
      workflow_name: origin.workflowName,
      workflow_version: origin.workflowVersion,
      contact_id: origin.contactId,
      entry_key: origin.entryKey,
      is_test: origin.isTest,
      created_at: toTimestamp(origin.createdAt),
    },
    organization: {
      id: organization.id,
      name: organization.name,
      timezone: organization.timezone,
      default_country: organization.defaultCountry,
    },
    now: toTimestamp(now),
  };
  return buildScope(roots, { ...origin.initialContext, ...progress.assigned });
}

async function contactOf(context: Context, contactId: number | null): Promise<ContactRecord | null> {
  if (contactId === null) return null;
  return (await findContacts(context, [contactId])).get(contactId) ?? null;
}

/** A node that acts on the contact needs to know whether there is one, and a wait is by default in the contact's zone. */
const speaksOfContact = (node: GraphNode): boolean => needContact.has(node.type) || JSON.stringify(node.data).includes('contact');
const needContact = new Set(['update_contact', 'list_membership', 'wait']);
