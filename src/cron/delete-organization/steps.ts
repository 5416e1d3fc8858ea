import { blankOrganization } from '../../accounts/deletion-store.ts';
import { tablesOfOrganizations } from '../../database/rows-of-organization.ts';
import { catalog } from '../../database/shards.ts';
import { attachedTo } from './attached.ts';
import { endCalls } from './end-calls.ts';
import { removeFiles } from './files.ts';
import { eraseObject } from './objects.ts';
import { removeRows } from './rows.ts';
import { settleMs, type Step } from './step.ts';

/** They lead to the organization, and go when nothing else is left. */
const last = new Set(['membership', 'organization']);

const content = tablesOfOrganizations.filter(({ table }) => !last.has(table)).map((owned) => removeRows(owned, attachedTo[owned.table]));

/** Whoever knew the organization before has finished by then, and what they wrote is looked for once more. */
const settle: Step = {
  name: 'settle',
  page: async ({ clock }, asked) => ({ next: clock() < asked.at + settleMs ? 'later' : 'done', removed: 0 }),
};

/** The row stays, without a name: its id must never be given to another organization. */
const forgetName: Step = {
  name: 'organization',
  async page({ bindings, organization }) {
    await blankOrganization(catalog(bindings), organization.id);
    return { next: 'done', removed: 1 };
  },
};

/** Everything twice, and between the two a wait: a deletion is at one of these, by its number. */
export const steps: readonly Step[] = [
  endCalls,
  ...content,
  removeFiles,
  settle,
  endCalls,
  ...content,
  eraseObject('call slots', 'CALL_SLOTS'),
  eraseObject('vectors', 'VECTOR_INDEX'),
  removeFiles,
  ...tablesOfOrganizations.filter(({ table }) => table === 'membership').map((owned) => removeRows(owned)),
  forgetName,
];
