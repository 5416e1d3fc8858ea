import { limitWarnings, collectWarnings, type Warning } from '../../library/json/config-object.ts';
import { isRecord } from '../../library/json/json.ts';
import { isIgnoredNodeType, ignoredNodeTypes } from './ignored-keys.ts';
import { definitionPath } from './issues.ts';
import { EdgeSchema, isNodeType, nodeDataSchemas } from './schemas.ts';

/** The parts of a definition that have no effect, also of one with problems. `loc` names nodes and edges as issues do. */
export function findDefinitionWarnings(definition: unknown): Warning[] {
  if (!isRecord(definition)) return [];
  const nodes = listIdentifiedItems(definition['nodes']).flatMap(([name, { type, data }]): Warning[] => {
    if (typeof type !== 'string') return [];
    const loc = [...definitionPath, 'nodes', name];
    if (isIgnoredNodeType(type)) return [{ loc, msg: ignoredNodeTypes[type]! }];
    return isNodeType(type) ? collectWarnings(nodeDataSchemas[type], data, [...loc, 'data']) : [];
  });
  const edges = listIdentifiedItems(definition['edges']).flatMap(([name, { data }]) =>
    collectWarnings(EdgeSchema.shape.data, data, [...definitionPath, 'edges', name, 'data']),
  );
  return limitWarnings([...nodes, ...edges], definitionPath);
}

/** The objects of a list, each with its id or, without an id, its position. */
const listIdentifiedItems = (list: unknown): [string, Record<string, unknown>][] =>
  (Array.isArray(list) ? (list as unknown[]) : []).flatMap((item, index): [string, Record<string, unknown>][] =>
    isRecord(item) ? [[typeof item['id'] === 'string' && item['id'] !== '' ? item['id'] : String(index), item]] : [],
  );
