import { limitWarnings, collectWarnings, type Warning } from '../../library/json/config-object.ts';
import { isRecord } from '../../library/json/json.ts';
import { nodeTypes } from '../nodes/registry.ts';
import { WorkflowSettings } from '../definitions/settings.ts';
import { isTriggerType, triggerConfigs } from '../triggers/configs.ts';

interface WorkflowConfigs {
  definition: unknown;
  settings: unknown;
  trigger: unknown;
}

/** The parts of a journey's configs that have no effect. */
export const workflowWarnings = ({ definition, settings, trigger }: WorkflowConfigs): Warning[] => [
  ...definitionWarnings(definition),
  ...collectWarnings(WorkflowSettings, settings, ['body', 'settings']),
  ...primaryTriggerWarnings(trigger),
];

/** Those of a definition, whether or not it may go active; `loc` names nodes as the problems of a definition do. */
export function definitionWarnings(definition: unknown): Warning[] {
  const nodes = isRecord(definition) && Array.isArray(definition['nodes']) ? (definition['nodes'] as unknown[]) : [];
  const loc = ['body', 'definition', 'nodes'];
  const found = nodes.flatMap((node, index) => {
    if (!isRecord(node)) return [];
    const type = nodeTypes.get(String(node['type']));
    const name = typeof node['id'] === 'string' && node['id'] !== '' ? node['id'] : String(index);
    return type ? collectWarnings(type.dataSchema, node['data'], [...loc, name, 'data']) : [];
  });
  return limitWarnings(found, loc);
}

const primaryTriggerWarnings = (trigger: unknown): Warning[] =>
  isRecord(trigger) && isTriggerType(trigger['type'])
    ? collectWarnings(triggerConfigs[trigger['type']], trigger['config'], ['body', 'trigger', 'config'])
    : [];
