import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { isEqual } from '../../../expressions/conditions/comparison.ts';
import { render, type Scope } from '../../../expressions/templates/render.ts';
import { defaultHandle, defineNode, next } from '../contract.ts';
import { checkKeys, handleKeySchema, collectKeys } from '../shared/handle-keys.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const renderIfText = (value: unknown, scope: Scope): unknown => (typeof value === 'string' ? render(value, scope) : value);

export const switchNode = defineNode({
  type: 'switch',
  label: 'Switch',
  description:
    'Compares a value with each case and goes on at the key of the first that is equal, else at "default". Numbers compare as numbers.',
  dataSchema: configObject({
    value: scalar,
    cases: z
      .array(configObject({ key: handleKeySchema, equals: scalar }))
      .min(1)
      .max(50)
      .superRefine((cases, context) => checkKeys(cases, [defaultHandle], context)),
  }),
  handles: (data) => [...collectKeys(data['cases']), defaultHandle],
  comesOutTheSame: true,
  example: {
    value: '{{ contact.custom_fields.tier }}',
    cases: [
      { key: 'gold', equals: 'gold' },
      { key: 'silver', equals: 'silver' },
    ],
  },
  run: async ({ data, scope }) => {
    const value = renderIfText(data.value, scope);
    const hit = data.cases.find(({ equals }) => value !== null && isEqual(value, renderIfText(equals, scope)));
    return next({ value, case: hit?.key ?? defaultHandle }, hit?.key ?? defaultHandle);
  },
});
