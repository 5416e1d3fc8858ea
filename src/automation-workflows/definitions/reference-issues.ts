import type { Context } from '../../context.ts';
import { currentSheetIds } from '../../integrations/sheet/find-sheet-integration.ts';
import { findUnknownDocuments } from '../../knowledge-base/documents/find-unknown-documents.ts';
import type { Issue } from '../../library/errors.ts';
import { findActiveAgentIds } from '../../voice-agents/agents/find-active-agents.ts';
import { parseDefinition } from './definition.ts';
import type { GraphNode } from '../nodes/contract.ts';
import { existingWorkflowIds } from './store.ts';

/**
 * Nodes that name another workflow, a voice agent, an integration or documents must name those of this organization. Asked only of a graph that is sound in
 * itself.
 */
export async function referenceIssues(context: Context, definition: unknown): Promise<Issue[]> {
  const { database, organization } = context;
  const { nodes } = parseDefinition(definition);
  const workflows = {
    field: 'workflow_id',
    what: 'workflow',
    list: '/automation-workflows',
    existing: (ids: number[]) => existingWorkflowIds(database, organization.id, ids),
  };
  const agents = {
    field: 'workflow_id',
    what: 'active voice agent',
    list: '/workflow/',
    existing: (ids: number[]) => findActiveAgentIds(context, ids),
  };
  const sheets = { field: 'integration_id', what: 'sheet integration', list: '/integration/', existing: () => currentSheetIds(context) };
  return [
    ...(await unknownReferenceIssues(nodes, 'run_workflow', workflows)),
    ...(await unknownReferenceIssues(nodes, 'voice_call', agents)),
    ...(await unknownReferenceIssues(nodes, 'sheet_row', sheets)),
    ...(await unknownDocumentIssues(context, nodes)),
  ];
}

/** What nodes of a type may name in a field, and which of it there is; `list` is the path that lists it. */
interface ReferenceKind {
  field: string;
  what: string;
  list: string;
  existing(ids: number[]): Promise<Set<number>>;
}

async function unknownReferenceIssues(nodes: GraphNode[], type: string, { field, what, list, existing }: ReferenceKind): Promise<Issue[]> {
  const references = nodes
    .filter((node) => node.type === type && node.data[field] != null)
    .map(({ id, data }) => ({ nodeId: id, named: data[field] as number }));
  if (!references.length) return [];
  const known = await existing(references.map(({ named }) => named));
  return references
    .filter(({ named }) => !known.has(named))
    .map(({ nodeId, named }) => notFoundIssue([nodeId, 'data', field], what, String(named), list));
}

async function unknownDocumentIssues(context: Context, nodes: GraphNode[]): Promise<Issue[]> {
  const references = nodes
    .filter(({ type }) => type === 'knowledge_search')
    .flatMap(({ id, data }) =>
      ((data['document_uuids'] ?? []) as string[]).map((uuid, index) => ({ place: [id, 'data', 'document_uuids', String(index)], uuid })),
    );
  const unknown = new Set(
    await findUnknownDocuments(
      context,
      references.map(({ uuid }) => uuid),
    ),
  );
  return references
    .filter(({ uuid }) => unknown.has(uuid))
    .map(({ place, uuid }) => notFoundIssue(place, 'document', uuid, '/knowledge-base/documents'));
}

const notFoundIssue = (place: string[], what: string, named: string, list: string): Issue => ({
  loc: ['body', 'definition', 'nodes', ...place],
  msg: `There is no ${what} ${named} in this organization; name one of GET ${list}`,
  type: 'not_found',
});
