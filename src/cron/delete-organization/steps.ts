import { anonymizeOrganization } from '../../accounts/deletion/store.ts';
import { organizationTables } from '../../database/organization-tables.ts';
import { catalog } from '../../database/shards.ts';
import { dependentsByTable } from './dependents.ts';
import { endCallsStep } from './end-calls.ts';
import { removeFilesStep } from './files.ts';
import { destroyObjectStep } from './objects.ts';
import { removeRowsStep } from './rows.ts';
import { cacheExpiryMs, type DeletionStep } from './step.ts';

/** They lead to the organization, and go when nothing else is left. */
const rootTables = new Set(['membership', 'organization']);

const contentSteps = organizationTables
  .filter(({ table }) => !rootTables.has(table))
  .map((owned) => removeRowsStep(owned, dependentsByTable[owned.table]));

/** Whoever knew the organization before has finished by then, and what they wrote is looked for once more. */
const waitForCaches: DeletionStep = {
  name: 'settle',
  runPage: async ({ clock }, asked) => ({ next: clock() < asked.requestedAt + cacheExpiryMs ? 'later' : 'done', removed: 0 }),
};

/** The row stays, without a name: its id must never be given to another organization. */
const eraseName: DeletionStep = {
  name: 'organization',
  async runPage({ bindings, organization }) {
    await anonymizeOrganization(catalog(bindings), organization.id);
    return { next: 'done', removed: 1 };
  },
};

/** Everything twice, and between the two a wait: a deletion is at one of these, by its number. */
export const deletionSteps: readonly DeletionStep[] = [
  endCallsStep,
  ...contentSteps,
  removeFilesStep,
  waitForCaches,
  endCallsStep,
  ...contentSteps,
  destroyObjectStep('call slots', 'CALL_SLOTS'),
  destroyObjectStep('vectors', 'VECTOR_INDEX'),
  removeFilesStep,
  ...organizationTables.filter(({ table }) => table === 'membership').map((owned) => removeRowsStep(owned)),
  eraseName,
];
