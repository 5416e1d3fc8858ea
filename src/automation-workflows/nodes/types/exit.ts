import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { renderText } from '../../../expressions/templates/render.ts';
import { defineNode } from '../contract.ts';

export const exitNode = defineNode({
  type: 'exit',
  label: 'Exit',
  description: 'Ends the run as completed, with an outcome to count by.',
  dataSchema: configObject({ outcome: z.string().max(200).nullish() }),
  handles: () => [],
  comesOutTheSame: true,
  example: { outcome: 'converted' },
  run: async ({ data, scope }) => ({ kind: 'exit', outcome: (data.outcome && renderText(data.outcome, scope)) || null }),
});
