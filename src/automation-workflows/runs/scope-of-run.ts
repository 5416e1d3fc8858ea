import type { Context } from '../../accounts/context.ts';
import { findContacts } from '../../contacts/find-contacts.ts';
import type { ContactRecord } from '../../contacts/records.ts';
import { toTimestamp } from '../../library/clock.ts';
import type { GraphNode } from '../nodes/contract.ts';
import { commonRoots, type Origin } from '../common-roots.ts';
import { buildScope } from '../scope.ts';
import type { Scope } from '../templates.ts';
import type { Progress } from './progress.ts';

/** What of a run never changes while it lives. */
export interface RunOrigin extends Origin {
  id: number;
  workflowId: number;
  workflowName: string;
  workflowVersion: number;
  contactId: number | null;
  entryKey: string | null;
  depth: number;
  isTest: boolean;
  createdAt: number;
}

/** Everything that templates and conditions of a run may read at one node. The contact is read fresh where it is spoken of. */
export async function scopeOfRun(context: Context, origin: RunOrigin, progress: Progress, node: GraphNode, now: number): Promise<Scope> {
  return scopeFor(context, origin, progress, now, speaksOfContact(node) ? await contactOf(context, origin.contactId) : null);
}

export function scopeFor(context: Context, origin: RunOrigin, progress: Progress, now: number, contact: ContactRecord | null): Scope {
  const run = {
    id: origin.id,
    automation_workflow_id: origin.workflowId,
    workflow_name: origin.workflowName,
    workflow_version: origin.workflowVersion,
    contact_id: origin.contactId,
    entry_key: origin.entryKey,
    is_test: origin.isTest,
    created_at: toTimestamp(origin.createdAt),
  };
  const roots = { ...commonRoots(context, origin, contact, now), steps: progress.outputs, run };
  return buildScope(roots, { ...origin.initialContext, ...progress.assigned });
}

async function contactOf(context: Context, contactId: number | null): Promise<ContactRecord | null> {
  if (contactId === null) return null;
  return (await findContacts(context, [contactId])).get(contactId) ?? null;
}

/** A node that acts on the contact needs to know whether there is one, and a wait is by default in the contact's zone. */
const speaksOfContact = (node: GraphNode): boolean => needContact.has(node.type) || JSON.stringify(node.data).includes('contact');
const needContact = new Set(['update_contact', 'list_membership', 'wait']);
