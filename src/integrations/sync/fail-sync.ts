import type { Context } from '../../context.ts';
import { failAfterRetries } from './leased-sync-store.ts';

/** Fails a sync after its last try, with the reason of that try. The integration is read again when it is due. */
export const failSync = ({ database, organization, clock }: Context, id: number): Promise<void> =>
  failAfterRetries(
    database,
    { id, organizationId: organization.id },
    {
      otherwise: 'The service failed while it read the data source',
      advice: '; given up after repeated failures. It is tried again within 15 minutes, or at once by a resync',
      now: clock(),
    },
  );
