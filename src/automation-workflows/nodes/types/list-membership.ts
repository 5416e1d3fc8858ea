import { configObject } from '../../../library/json/config-object.ts';
import { actionHandles, defineNode, failure, next } from '../contract.ts';
import { nameTemplates, renderNames } from '../shared/fields.ts';
import { performEffect } from '../shared/perform-effect.ts';

export const listMembershipNode = defineNode({
  type: 'list_membership',
  label: 'Lists',
  description:
    "Adds the run's contact to lists and removes it from others, by name. A list to add to is made when there is none of that name.",
  dataSchema: configObject({ add: nameTemplates, remove: nameTemplates }).refine(
    ({ add, remove }) => add.length + remove.length > 0,
    'Name at least one list in add or remove',
  ),
  handles: actionHandles,
  isSideEffect: true,
  needsContact: true,
  example: { add: ['Customers'], remove: ['Leads'] },
  run: async (step) => {
    if (!step.scope['contact']) return failure('no_contact', 'This run has no contact, so no list can be changed');
    const change = { add: renderNames(step.data.add, step.scope), remove: renderNames(step.data.remove, step.scope) };
    if (change.add.length + change.remove.length === 0) return next({ unchanged: true });
    return performEffect(step, change, () => step.effects.changeLists(step.key, change));
  },
});
