import type { Context } from '../../../context.ts';
import { contactFromRow, contactsByIdsStatement } from '../../../contacts/contacts/find-contacts.ts';
import { toContactRecord, type ContactRecord } from '../../../contacts/contacts/records.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import { buildScope } from '../../../expressions/templates/scope.ts';
import type { Scope } from '../../../expressions/templates/render.ts';
import type { GraphNode, NodeType } from '../../nodes/contract.ts';
import { findNodeType } from '../../nodes/registry.ts';
import { buildCommonRoots, type RunOrigin } from '../cause.ts';
import type { StepContext } from '../engine/dependencies.ts';
import type { Progress } from '../engine/progress.ts';
import { runPermissionStatement } from '../store.ts';
import type { RecentFacts } from './recent-facts.ts';

/**
 * Reads the scope of a step and, before a side effect, whether the workflow is paused. The contact is read only when the node uses it. At most
 * one D1 call, and none when the last steps have just read the same. `now` in epoch ms.
 */
export async function loadStepContext(
  context: Context,
  run: StepContextRun,
  progress: Progress,
  node: GraphNode,
  now: number,
): Promise<StepContext> {
  const { database, organization } = context;
  const { origin, recent } = run;
  const type = findNodeType(node.type);
  const needsContact =
    origin.contactId !== null && (referencesContact(node, type) || (run.hasQuietHours && type?.respectsQuietHours !== undefined));
  const needsPermission = type?.isSideEffect === true;
  let contact = needsContact ? recent.contact() : null;
  let permission = needsPermission ? recent.permission() : null;
  const [readsContact, readsPermission] = [contact === undefined, permission === undefined];
  if (readsContact || readsPermission) {
    const [contacts, permissions] = await database.batch([
      contactsByIdsStatement(context, readsContact ? [origin.contactId!] : []),
      ...(readsPermission ? [runPermissionStatement(database, organization.id, origin.id)] : []),
    ]);
    if (readsContact) recent.setContact((contact = contacts[0] ? contactFromRow(contacts[0]) : null));
    if (readsPermission) recent.setPermission((permission = permissions![0] ?? null));
  }
  return {
    scope: buildRunScope(context, origin, progress, now, contact ? toContactRecord(contact) : null),
    isPaused: permission ? permission.status !== 'active' && !origin.isTest : false,
    isOver: permission ? permission.completed_at !== null : false,
  };
}

export interface StepContextRun {
  origin: RunOrigin;
  hasQuietHours: boolean;
  recent: RecentFacts;
}

/** The scope of a run's templates and conditions. `now` in epoch ms. */
export function buildRunScope(context: Context, origin: RunOrigin, progress: Progress, now: number, contact: ContactRecord | null): Scope {
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
  const roots = { ...buildCommonRoots(context, origin, contact, now), steps: progress.outputs, run };
  return buildScope(roots, { ...origin.initialContext, ...progress.assigned });
}

const referencesContact = (node: GraphNode, type: NodeType | undefined): boolean =>
  type?.needsContact === true || JSON.stringify(node.data).includes('contact');
