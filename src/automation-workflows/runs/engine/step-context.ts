import type { Context } from '../../../context.ts';
import { contactsByIdsStatement, contactRecordFromRow } from '../../../contacts/contacts/find-contacts.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import type { GraphNode, NodeType } from '../../nodes/contract.ts';
import { findNodeType } from '../../nodes/registry.ts';
import { buildCommonRoots, type Origin } from './common-scope-roots.ts';
import { buildScope } from '../../../expressions/templates/scope.ts';
import type { Scope } from '../../../expressions/templates/render.ts';
import type { Progress } from './progress.ts';
import { workflowStatusStatement } from '../store.ts';
import type { StepContext } from './dependencies.ts';

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

/**
 * What a run reads before a step: everything that templates and conditions may speak of and, before a side effect, whether the
 * workflow is paused. The contact is read fresh where it is spoken of. At most one D1 call.
 */
export async function loadStepContext(
  context: Context,
  run: StepContextRun,
  progress: Progress,
  node: GraphNode,
  now: number,
): Promise<StepContext> {
  const { database, organization } = context;
  const { origin } = run;
  const type = findNodeType(node.type);
  const needsContact =
    origin.contactId !== null && (referencesContact(node, type) || (run.hasQuietHours && type?.respectsQuietHours !== undefined));
  const needsStatus = type?.isSideEffect === true && !origin.isTest;
  const statements = [
    ...(needsContact ? [contactsByIdsStatement(context, [origin.contactId!])] : []),
    ...(needsStatus ? [workflowStatusStatement(database, organization.id, origin.workflowId)] : []),
  ];
  const results = statements.length ? await database.batch(statements) : [];
  const contactRow = needsContact ? results[0]![0] : undefined;
  const status = needsStatus ? (results.at(-1)![0] as { status: string } | undefined)?.status : undefined;
  const scope = buildRunScope(context, origin, progress, now, contactRow ? contactRecordFromRow(contactRow) : null);
  return { scope, isPaused: status !== undefined && status !== 'active' };
}

export interface StepContextRun {
  origin: RunOrigin;
  hasQuietHours: boolean;
}

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
