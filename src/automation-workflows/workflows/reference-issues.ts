import type { Context } from '../../accounts/context.ts';
import { currentSheetIds } from '../../integrations/sheet/existing-sheet.ts';
import { unknownDocuments } from '../../knowledge-base/known-documents.ts';
import type { Issue } from '../../library/errors.ts';
import { activeAgentIds } from '../../voice-agents/agents/active-agents.ts';
import { parseDefinition } from '../definition.ts';
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
    existing: (ids: number[]) => activeAgentIds(context, ids),
  };
  const sheets = { field: 'integration_id', what: 'sheet integration', list: '/integration/', existing: () => currentSheetIds(context) };
  return [
    ...(await unknownOf(nodes, 'run_workflow', workflows)),
    ...(await unknownOf(nodes, 'voice_call', agents)),
    ...(await unknownOf(nodes, 'sheet_row', sheets)),
    ...(await unknownDocumentsOf(context, nodes)),
  ];
}

/** What nodes of a type may name in a field, and which of it there is; `list` is the path that lists it. */
interface Named {
  field: string;
  what: string;
  list: string;
  existing(ids: number[]): Promise<Set<number>>;
}

async function unknownOf(nodes: GraphNode[], type: string, { field, what, list, existing }: Named): Promise<Issue[]> {
  const references = nodes
    .filter((node) => node.type === type && node.data[field] != null)
    .map(({ id, data }) => ({ nodeId: id, named: data[field] as number }));
  if (!references.length) return [];
  const known = await existing(references.map(({ named }) => named));
  return references
    .filter(({ named }) => !known.has(named))
    .map(({ nodeId, named }) => notThere([nodeId, 'data', field], what, String(named), list));
}

async function unknownDocumentsOf(context: Context, nodes: GraphNode[]): Promise<Issue[]> {
  const references = nodes
    .filter(({ type }) => type === 'knowledge_search')
    .flatMap(({ id, data }) =>
      ((data['document_uuids'] ?? []) as string[]).map((uuid, index) => ({ place: [id, 'data', 'document_uuids', String(index)], uuid })),
    );
  const unknown = new Set(
    await unknownDocuments(
      context,
      references.map(({ uuid }) => uuid),
    ),
  );
  return references
    .filter(({ uuid }) => unknown.has(uuid))
    .map(({ place, uuid }) => notThere(place, 'document', uuid, '/knowledge-base/documents'));
}

const notThere = (place: string[], what: string, named: string, list: string): Issue => ({
  loc: ['body', 'definition', 'nodes', ...place],
  msg: `There is no ${what} ${named} in this organization; name one of GET ${list}`,
  type: 'not_found',
});
