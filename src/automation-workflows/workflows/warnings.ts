import { cutWarnings, warningsOf, type Warning } from '../../library/config-object.ts';
import { isRecord } from '../../library/json.ts';
import { nodeTypes } from '../nodes/registry.ts';
import { WorkflowSettings } from '../settings.ts';
import { isTriggerType, triggerConfigs } from '../triggers/configs.ts';

interface Configs {
  definition: unknown;
  settings: unknown;
  trigger: unknown;
}

/** The parts of a journey's configs that have no effect. */
export const workflowWarnings = ({ definition, settings, trigger }: Configs): Warning[] => [
  ...definitionWarnings(definition),
  ...warningsOf(WorkflowSettings, settings, ['body', 'settings']),
  ...primaryWarnings(trigger),
];

/** Those of a definition, whether or not it may go active; `loc` names nodes as the problems of a definition do. */
export function definitionWarnings(definition: unknown): Warning[] {
  const nodes = isRecord(definition) && Array.isArray(definition['nodes']) ? (definition['nodes'] as unknown[]) : [];
  const loc = ['body', 'definition', 'nodes'];
  const found = nodes.flatMap((node, index) => {
    if (!isRecord(node)) return [];
    const type = nodeTypes.get(String(node['type']));
    const name = typeof node['id'] === 'string' && node['id'] !== '' ? node['id'] : String(index);
    return type ? warningsOf(type.dataSchema, node['data'], [...loc, name, 'data']) : [];
  });
  return cutWarnings(found, loc);
}

const primaryWarnings = (trigger: unknown): Warning[] =>
  isRecord(trigger) && isTriggerType(trigger['type'])
    ? warningsOf(triggerConfigs[trigger['type']], trigger['config'], ['body', 'trigger', 'config'])
    : [];
