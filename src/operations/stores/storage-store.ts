import type { Database, Statement } from '../../database/client.ts';

/** The organization's contacts, as they are counted against the plan. */
export const contactCount = (database: Database, organizationId: number): Statement<{ contacts_count: number }> =>
  database.prepare<{ contacts_count: number }>('SELECT contacts_count FROM organization_usage WHERE organization_id = ?', organizationId);
