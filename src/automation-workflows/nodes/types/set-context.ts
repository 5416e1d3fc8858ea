import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { renderDeep } from '../../../expressions/templates/render.ts';
import type { Json } from '../../../library/json/json.ts';
import { defaultHandle, defineNode } from '../contract.ts';
import { variableNameProblem } from '../shared/fields.ts';

export const setContextNode = defineNode({
  type: 'set_context',
  label: 'Set variables',
  description:
    'Writes top-level variables. A text that is one whole {{ expression }} keeps the type of its value. Values see the context as it was before.',
  dataSchema: configObject({
    assign: z.record(z.string(), z.unknown()).superRefine((assign, context) => {
      for (const name of Object.keys(assign)) {
        const message = variableNameProblem(name);
        if (message) context.addIssue({ code: 'custom', path: [name], message });
      }
    }),
  }),
  handles: () => [defaultHandle],
  comesOutTheSame: true,
  example: { assign: { size: 'big', doubled: '{{ total | times: 2 }}' } },
  run: async ({ data, scope }) => {
    const assign = renderDeep(data.assign, scope) as Record<string, Json>;
    return { kind: 'next', handle: defaultHandle, output: assign, assign };
  },
});
