import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { renderDeep, renderText } from '../../../expressions/templates/render.ts';
import type { Json } from '../../../library/json/json.ts';
import { actionHandles, defineNode, failure, next, type ContactChange, type Step } from '../contract.ts';
import { nameTemplates, renderNames } from '../shared/fields.ts';
import { performEffect } from '../shared/perform-effect.ts';

const standardFields = ['first_name', 'last_name', 'email', 'phone', 'company', 'title', 'external_id'];
const customFieldPattern = /^custom_fields\.(.{1,200})$/s;

const isEmpty = (value: Json): boolean => value === null || value === '';

export const updateContactNode = defineNode({
  type: 'update_contact',
  label: 'Update contact',
  description:
    "Sets fields and tags of the run's contact. A field whose template renders to nothing keeps its value; a literal null clears it.",
  dataSchema: configObject({
    set: z
      .record(z.string(), z.unknown())
      .superRefine((set, context) => {
        for (const [field, value] of Object.entries(set)) {
          const isCustom = customFieldPattern.test(field);
          if (!isCustom && !standardFields.includes(field))
            context.addIssue({
              code: 'custom',
              path: [field],
              message: `Unknown contact field "${field}"; use custom_fields.<key> or one of ${standardFields.join(', ')}`,
            });
          else if (!isCustom && value !== null && typeof value !== 'string' && typeof value !== 'number')
            context.addIssue({
              code: 'custom',
              path: [field],
              message: `Contact field "${field}" must be text (perhaps a template) or null`,
            });
        }
      })
      .default({}),
    add_tags: nameTemplates,
    remove_tags: nameTemplates,
  }).refine(
    (data) => Object.keys(data.set).length + data.add_tags.length + data.remove_tags.length > 0,
    'Give at least one of set, add_tags and remove_tags',
  ),
  handles: actionHandles,
  isSideEffect: true,
  comesOutTheSame: true,
  needsContact: true,
  example: { set: { 'custom_fields.tier': 'gold', company: '{{ data.company }}' }, add_tags: ['vip'] },
  run: async (step) => {
    if (!step.scope['contact']) return failure('no_contact', 'This run has no contact, so no field can be set');
    const change = renderContactChange(step);
    if (Object.keys(change.set).length + change.add_tags.length + change.remove_tags.length === 0) return next({ unchanged: true });
    return performEffect(step, change, () => step.effects.updateContact(step.key, change));
  },
});

function renderContactChange({
  data,
  scope,
}: Step<{ set: Record<string, unknown>; add_tags: string[]; remove_tags: string[] }>): ContactChange {
  const set: Record<string, Json> = {};
  for (const [field, template] of Object.entries(data.set)) {
    const isText = !customFieldPattern.test(field) && template !== null;
    const value = isText ? renderText(String(template), scope).trim() : renderDeep(template, scope);
    if (template !== null && isEmpty(value)) continue;
    set[field] = value;
  }
  return { set, add_tags: renderNames(data.add_tags, scope), remove_tags: renderNames(data.remove_tags, scope) };
}
