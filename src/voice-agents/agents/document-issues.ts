import { z } from 'zod';
import type { Context } from '../../context.ts';
import { findUnknownDocuments } from '../../knowledge-base/documents/change-document.ts';
import type { Issue } from '../../library/errors.ts';
import { isRecord } from '../../library/json/json.ts';
import { definitionIssue } from '../definition/issues.ts';

interface DocumentReference {
  nodeId: string;
  /** The index among the node's documents. */
  index: number;
  uuid: string;
}

/** An issue for each document of a node that does not exist or was deleted. One D1 call; none without documents. */
export async function findDocumentIssues(context: Context, definition: unknown): Promise<Issue[]> {
  const named = listDocumentReferences(definition);
  const unknown = new Set(
    await findUnknownDocuments(
      context,
      named.map(({ uuid }) => uuid),
    ),
  );
  return named
    .filter(({ uuid }) => unknown.has(uuid))
    .map(({ nodeId, index, uuid }) =>
      definitionIssue(
        ['nodes', nodeId, 'data', 'document_uuids', String(index)],
        `There is no document "${uuid}", or it was deleted; GET /knowledge-base/documents lists those that there are`,
      ),
    );
}

/** Skips nodes and uuids that are malformed; the definition's own rules report those. */
function listDocumentReferences(definition: unknown): DocumentReference[] {
  const nodes = isRecord(definition) && Array.isArray(definition['nodes']) ? (definition['nodes'] as unknown[]) : [];
  return nodes.filter(isRecord).flatMap(({ id, data }): DocumentReference[] => {
    const uuids = isRecord(data) ? data['document_uuids'] : undefined;
    if (typeof id !== 'string' || !Array.isArray(uuids)) return [];
    return uuids.flatMap((uuid, index) => (z.uuid().safeParse(uuid).success ? [{ nodeId: id, index, uuid: uuid as string }] : []));
  });
}
