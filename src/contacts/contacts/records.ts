import type { z } from '@hono/zod-openapi';
import { toTimestamp } from '../../library/time/clock.ts';
import type { Contact } from './contact.ts';
import type { ContactRecord as ContactSchema } from './schemas.ts';

/** A contact as the API and journeys show it. */
export type ContactRecord = z.infer<typeof ContactSchema>;

export const toContactRecord = (contact: Contact): ContactRecord => ({
  id: contact.id,
  organization_id: contact.organization_id,
  external_id: contact.external_id,
  phone: contact.phone,
  email: contact.email,
  first_name: contact.first_name,
  last_name: contact.last_name,
  company: contact.company,
  title: contact.title,
  tags: contact.tags,
  custom_fields: contact.custom_fields,
  created_at: toTimestamp(contact.created_at),
  updated_at: toTimestamp(contact.updated_at),
});
