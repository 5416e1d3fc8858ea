import { configObject } from '../../../library/json/config-object.ts';
import { defaultHandle, defineNode, next } from '../contract.ts';

export const triggerNode = defineNode({
  type: 'trigger',
  label: 'Trigger',
  description: 'Where every run begins. What starts runs is set by the triggers of the workflow.',
  dataSchema: configObject({}),
  handles: () => [defaultHandle],
  comesOutTheSame: true,
  example: {},
  run: async () => next(),
});
