import { organizationFolders } from '../../database/organization-tables.ts';
import type { DeletionStep } from './step.ts';

/** R2 deletes so many in one call. */
const filesPerPage = 1000;

export const removeFilesStep: DeletionStep = {
  name: 'files',
  async runPage({ bindings, organization }) {
    for (const folder of organizationFolders) {
      const { objects } = await bindings.FILES.list({ prefix: `${folder}${organization.id}/`, limit: filesPerPage });
      if (!objects.length) continue;
      await bindings.FILES.delete(objects.map(({ key }) => key));
      return { next: 'more', removed: objects.length };
    }
    return { next: 'done', removed: 0 };
  },
};
