import { cutWarnings, warningsOf, type Warning } from '../../library/config-object.ts';
import { isRecord } from '../../library/json.ts';
import { isPassive, passiveNodeTypes } from './other-keys.ts';
import { root } from './problems.ts';
import { EdgeSchema, isNodeType, nodeDataSchemas } from './schemas.ts';

/** The parts of a definition that have no effect, whether or not it can be run; `loc` names nodes and edges as its problems do. */
export function definitionWarnings(definition: unknown): Warning[] {
  if (!isRecord(definition)) return [];
  const nodes = itemsOf(definition['nodes']).flatMap(([name, { type, data }]): Warning[] => {
    if (typeof type !== 'string') return [];
    const loc = [...root, 'nodes', name];
    if (isPassive(type)) return [{ loc, msg: passiveNodeTypes[type]! }];
    return isNodeType(type) ? warningsOf(nodeDataSchemas[type], data, [...loc, 'data']) : [];
  });
  const edges = itemsOf(definition['edges']).flatMap(([name, { data }]) =>
    warningsOf(EdgeSchema.shape.data, data, [...root, 'edges', name, 'data']),
  );
  return cutWarnings([...nodes, ...edges], root);
}

/** Each object of a list with its id or, without one, its position. */
const itemsOf = (list: unknown): [string, Record<string, unknown>][] =>
  (Array.isArray(list) ? (list as unknown[]) : []).flatMap((item, index): [string, Record<string, unknown>][] =>
    isRecord(item) ? [[typeof item['id'] === 'string' && item['id'] !== '' ? item['id'] : String(index), item]] : [],
  );
