import { conditionOperators } from './operators.ts';

const conditionRef = { $ref: '#/$defs/Condition' };

/** The grammar of conditions as JSON Schema; `id` makes Zod put it under `$defs`, where it can refer to itself. */
export const conditionJsonSchema = {
  id: 'Condition',
  description: 'A tree of comparisons',
  anyOf: [
    { type: 'object', properties: { all: { type: 'array', items: conditionRef } }, required: ['all'] },
    { type: 'object', properties: { any: { type: 'array', items: conditionRef } }, required: ['any'] },
    { type: 'object', properties: { not: conditionRef }, required: ['not'] },
    {
      type: 'object',
      properties: {
        field: { type: 'string', description: 'Path into the scope, such as contact.custom_fields.tier or items[0].sku' },
        operator: { type: 'string', enum: Object.keys(conditionOperators) },
        value: { description: 'What the field is compared with; texts may be templates. None for exists and not_exists' },
      },
      required: ['field', 'operator'],
    },
  ],
};
