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

/** Warnings of keys in a journey's definition, settings and primary trigger that have no effect. */
export const workflowWarnings = ({ definition, settings, trigger }: WorkflowConfigs): Warning[] => [
  ...definitionWarnings(definition),
  ...collectWarnings(WorkflowSettings, settings, ['body', 'settings']),
  ...primaryTriggerWarnings(trigger),
];

/** Warnings of a definition, valid or not; `loc` names nodes as in the issues of `validateGraph`. */
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
