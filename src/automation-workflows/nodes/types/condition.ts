import { configObject } from '../../../library/json/config-object.ts';
import { Condition, explainCondition } from '../../../expressions/conditions/condition.ts';
import { defineNode, next } from '../contract.ts';

export const conditionNode = defineNode({
  type: 'condition',
  label: 'Condition',
  description: 'Goes on at "true" or "false". The output shows what each comparison saw.',
  dataSchema: configObject({ condition: Condition }),
  handles: () => ['true', 'false'],
  comesOutTheSame: true,
  example: { condition: { all: [{ field: 'data.total', operator: 'gt', value: 100 }] } },
  run: async ({ data, scope, now }) => {
    const explained = explainCondition(data.condition, scope, now);
    return next(explained, String(explained.result));
  },
});
