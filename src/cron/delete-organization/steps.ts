import { loadCarrier } from '../../telephony-configs/load-carrier.ts';
import { withCallSlots } from '../../calls/rpc.ts';
import { cacheExpiryMs, type DeletionStep } from './step.ts';
import { organizationFolders, organizationTables } from '../../database/organization-tables.ts';
import { anonymizeOrganization } from '../../accounts/deletion/store.ts';
import { catalog } from '../../database/shards.ts';
import { dependentsByTable } from './dependents.ts';
import { destroyObjectStep } from './objects.ts';
import { removeRowsStep } from './rows.ts';

/**
 * Drops waiting calls and hangs up live ones. Calls that are being dialled, and calls that a carrier does not end, are checked again while there
 * is time.
 */
const endCallsStep: DeletionStep = {
  name: 'calls',
  async runPage(context, asked) {
    const { bindings, organization, log, clock } = context;
    const { calls, unplaced } = await withCallSlots(bindings, organization.id, (slots) => slots.shutDown());
    let ended = 0;
    for (const { configId, callId } of calls) {
      const carrier = await loadCarrier(context, configId);
      const result = await carrier?.telephony.hangUp(callId);
      if (result && 'failure' in result)
        log.error('a call of a deleted organization could not be ended', new Error(result.failure), { call_id: callId });
      else ended++;
    }
    const isOpen = unplaced > 0 || ended < calls.length;
    return { next: isOpen && clock() < asked.requestedAt + cacheExpiryMs ? 'later' : 'done', removed: 0 };
  },
};

/** R2 deletes this many objects in one call. */
const filesPerPage = 1000;

const removeFilesStep: DeletionStep = {
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

/** These tables lead to the organization, and are deleted last. */
const rootTables = new Set(['membership', 'organization']);

const contentSteps = organizationTables
  .filter(({ table }) => !rootTables.has(table))
  .map((owned) => removeRowsStep(owned, dependentsByTable[owned.table]));

/** After this wait, work that had the organization in a cache has finished. The second round deletes what that work wrote. */
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

/** The steps, in order. All content is deleted twice, with a wait between the rounds. A deletion stores the number of its step. */
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
