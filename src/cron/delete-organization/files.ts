import { foldersOfOrganizations } from '../../database/rows-of-organization.ts';
import type { Step } from './step.ts';

/** R2 deletes so many in one call. */
const filesAtOnce = 1000;

export const removeFiles: Step = {
  name: 'files',
  async page({ bindings, organization }) {
    for (const folder of foldersOfOrganizations) {
      const { objects } = await bindings.FILES.list({ prefix: `${folder}${organization.id}/`, limit: filesAtOnce });
      if (!objects.length) continue;
      await bindings.FILES.delete(objects.map(({ key }) => key));
      return { next: 'more', removed: objects.length };
    }
    return { next: 'done', removed: 0 };
  },
};
