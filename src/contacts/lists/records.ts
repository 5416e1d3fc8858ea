import type { z } from '@hono/zod-openapi';
import { toTimestamp } from '../../library/time/clock.ts';
import { columnWarnings, type ContactListRecord } from './schemas.ts';
import type { ContactList } from './store.ts';

/** A contact list as the API shows it. */
export const toListRecord = (list: ContactList): z.infer<typeof ContactListRecord> => ({
  id: list.id,
  organization_id: list.organization_id,
  name: list.name,
  description: list.description,
  metadata: list.metadata,
  column_schema: list.column_schema,
  warnings: columnWarnings(list.column_schema),
  contacts_count: list.contacts_count,
  created_at: toTimestamp(list.created_at),
  updated_at: toTimestamp(list.updated_at),
});
